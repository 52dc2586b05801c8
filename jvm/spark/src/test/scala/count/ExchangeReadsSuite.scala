package org.apache.spark.sql.keyroute.count

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ExchangeReadsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private sealed trait Report
  private case class Wrote(executor: String, rows: Vector[Long]) extends Report
  private case class Read(partition: Int, executor: String) extends Report

  private def replay(reports: Seq[Report]): LocalRows = {
    val exchange = new ExchangeReads(3)
    reports.map {
      case Wrote(executor, rows) => exchange.wrote(executor, rows)
      case Read(partition, executor) => exchange.read(partition, executor)
    }.foldLeft(LocalRows.none)(_ + _)
  }

  test("a row is local where its map task's executor reads its partition") {
    assert(replay(Seq(
      Wrote("a", Vector(5, 1, 0)),
      Wrote("b", Vector(2, 7, 3)),
      Read(0, "a"),
      Read(1, "b"),
      Read(2, "c")
    )) == LocalRows(18, 12))
  }

  test("rows of a partition that nobody is known to have read are not counted") {
    assert(replay(Seq(Wrote("a", Vector(5, 1, 9)), Read(0, "a"))) == LocalRows(5, 5))
  }

  test("of two reads of a partition the first counts") {
    assert(replay(Seq(Wrote("a", Vector(5, 0, 0)), Read(0, "a"), Read(0, "b"))) == LocalRows(5, 5))
  }

  test("a partition that does not exist is dropped") {
    assert(replay(Seq(Wrote("a", Vector(1, 1, 1)), Read(3, "a"), Read(-1, "a"))) == LocalRows.none)
  }

  test("the order of reports makes no difference") {
    val executor = Gen.oneOf("a", "b", "c")
    val wrote = for {
      e <- executor
      rows <- Gen.listOfN(3, Gen.chooseNum(0L, 9L))
    } yield Wrote(e, rows.toVector)
    val reports = for {
      writes <- Gen.listOf(wrote)
      readers <- Gen.listOfN(3, executor)
    } yield writes ++ readers.zipWithIndex.map { case (e, p) => Read(p, e) }
    forAll(reports, Gen.long) { (all, seed) =>
      val shuffled = new scala.util.Random(seed).shuffle(all)
      assert(replay(shuffled) == replay(all))
    }
  }
}
