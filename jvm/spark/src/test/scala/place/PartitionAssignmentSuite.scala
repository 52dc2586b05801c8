package org.apache.spark.sql.keyroute.place

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class PartitionAssignmentSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def assign(
      parts: Seq[Int],
      executors: Seq[String],
      current: Map[Int, String] = Map.empty
  ): Seq[String] =
    PartitionAssignment.assign(parts.toIndexedSeq, executors, current)

  private def homes(assigned: Seq[String]): Map[Int, String] =
    assigned.zipWithIndex.map(_.swap).toMap

  test("without a table partitions are spread evenly") {
    assert(assign(0 to 5, Seq("a", "b", "c")).groupBy(identity).view.mapValues(_.size).toMap ==
      Map("a" -> 2, "b" -> 2, "c" -> 2))
  }

  test("a part's partitions stay together") {
    val parts = Seq(0, 1, 2, 0, 1, 2)
    val assigned = assign(parts, Seq("a", "b", "c"))
    assert(parts.zip(assigned).distinct.size == 3)
    assert(assigned.distinct.size == 3)
  }

  test("nothing moves where nothing changes") {
    val first = assign(0 to 6, Seq("a", "b", "c"))
    assert(assign(0 to 6, Seq("c", "b", "a"), homes(first)) == first)
  }

  test("of a lost executor only its own partitions move") {
    val first = assign(0 to 5, Seq("a", "b", "c"))
    val after = assign(0 to 5, Seq("a", "b"), homes(first))
    first.zip(after).foreach { case (was, is) => if (was != "c") assert(is == was) }
    assert(after.count(_ == "a") == 3)
  }

  test("an executor that joins takes its share and no more moves than that") {
    val first = assign(0 to 5, Seq("a", "b"))
    val after = assign(0 to 5, Seq("a", "b", "c"), homes(first))
    assert(first.zip(after).count { case (was, is) => was != is } == 2)
    assert(after.count(_ == "c") == 2)
  }

  test("a new table's part goes where most of its partitions are") {
    val current = homes(Seq("a", "a", "b", "b", "c", "c"))
    val assigned = assign(Seq(0, 1, 0, 0, 1, 1), Seq("a", "b", "c"), current)
    assert(assigned == Seq("b", "c", "b", "b", "c", "c"))
  }

  test("more executors than parts, and one executor") {
    assert(assign(0 to 1, Seq("a", "b", "c")).distinct.size == 2)
    assert(assign(0 to 3, Seq("driver")) == Seq.fill(4)("driver"))
    assert(assign(Nil, Seq("a")).isEmpty)
  }

  private val names = Seq("a", "b", "c", "d", "e")
  private val anything = for {
    parts <- Gen.listOf(Gen.chooseNum(0, 7))
    live <- Gen.someOf(names).suchThat(_.nonEmpty)
    current <- Gen.mapOf(Gen.zip(Gen.chooseNum(0, 20), Gen.oneOf(names)))
  } yield (parts, live.toSeq, current)

  test("whatever was before, parts are together and evenly spread") {
    forAll(anything) { case (parts, live, current) =>
      val assigned = assign(parts, live, current)
      assert(assigned.forall(live.contains))
      val homeOf = parts.zip(assigned).distinct
      assert(homeOf.size == parts.distinct.size)
      val loads = live.map(e => homeOf.count(_._2 == e))
      assert(loads.max - loads.min <= 1)
      assert(assign(parts, live, homes(assigned)) == assigned)
    }
  }

  /** The same, word for word, with loads that are counted anew each time. */
  private def slowly(
      parts: Seq[Int],
      executors: Seq[String],
      current: Map[Int, String]
  ): Seq[String] = {
    type Homes = Map[Int, String]
    def load(homes: Homes, executor: String): Int = homes.count(_._2 == executor)
    val members = parts.indices.groupBy(parts).toSeq.sortBy(_._1)
    val (share, larger) = (members.size / executors.size, members.size % executors.size)
    val wishes = for {
      (part, partitions) <- members
      executor <- executors
      here = partitions.count(current.get(_).contains(executor)) if here > 0
    } yield (-here, part, executor)
    val kept = wishes.sorted.foldLeft[Homes](Map.empty) { case (homes, (_, part, executor)) =>
      val mine = load(homes, executor)
      val room = mine < share ||
        mine == share && executors.count(load(homes, _) > share) < larger
      if (!homes.contains(part) && room) homes.updated(part, executor) else homes
    }
    parts.map(members.map(_._1).filterNot(kept.contains).foldLeft(kept) { (homes, part) =>
      homes.updated(part, executors.sorted.minBy(load(homes, _)))
    })
  }

  test("it is what counting each executor's load anew would give") {
    forAll(anything, minSuccessful(1000)) { case (parts, live, current) =>
      assert(assign(parts, live, current) == slowly(parts, live, current))
    }
  }
}
