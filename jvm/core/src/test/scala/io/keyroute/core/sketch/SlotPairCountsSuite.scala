package io.keyroute.core.sketch

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.SlotPairs

class SlotPairCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private type Rows = List[((Int, Int), Long)]

  private val genRows: Gen[Rows] = Gen.listOf(for {
    range <- Gen.oneOf(3, 1023)
    from <- Gen.chooseNum(0, range)
    to <- Gen.chooseNum(0, range)
    rows <- Gen.chooseNum(1L, 5L)
  } yield (from, to) -> rows)

  private def countsOf(cells: Int, rows: Rows): SlotPairCounts = {
    val counts = new SlotPairCounts(cells)
    rows.foreach { case ((from, to), n) => counts.add(from, to, n) }
    counts
  }

  private def cellsOf(message: SlotPairs): Map[(Int, Int), Long] =
    (0 until message.getUpstreamCount).map { i =>
      (message.getUpstream(i), message.getDownstream(i)) -> message.getRows(i)
    }.toMap

  private def truth(rows: Rows): Map[(Int, Int), Long] = rows.groupMapReduce(_._1)(_._2)(_ + _)

  test("it is exact while its cells suffice, through messages and merges") {
    forAll(genRows, genRows) { (first, second) =>
      val sum = countsOf(10000, first)
      sum.merge(countsOf(10000, second))
      val copy = new SlotPairCounts(10000)
      copy.addAll(SlotPairs.parseFrom(sum.toProto.toByteArray), 1024, 1024)
      assert(cellsOf(copy.toProto) === truth(first ++ second))
      assert(copy.leftOut === 0 && copy.toProto === sum.toProto)
      truth(first ++ second).foreach { case ((from, to), n) => assert(sum.rowsOf(from, to) === n) }
    }
  }

  test("beyond its cells no cell is too high, and no row is forgotten") {
    forAll(Gen.chooseNum(0, 20), genRows, genRows, Gen.chooseNum(0, 20)) {
      (cells, first, second, most) =>
        val sum = countsOf(cells, first)
        sum.merge(countsOf(cells, second))
        val exact = truth(first ++ second)
        Seq(sum.toProto, sum.heaviest(most)).foreach { message =>
          val kept = cellsOf(message)
          assert(kept.size <= cells)
          kept.foreach { case (cell, n) => assert(n <= exact(cell)) }
          assert(kept.values.sum + message.getLeftOut === exact.values.sum)
        }
        assert(sum.heaviest(most).getUpstreamCount <= most)
    }
  }

  test("a cut keeps the heaviest cells") {
    val counts = countsOf(9, List((1, 2) -> 3L, (0, 5) -> 9L, (2, 0) -> 1L, (0, 4) -> 4L))
    assert(cellsOf(counts.heaviest(2)) === Map((0, 5) -> 9L, (0, 4) -> 4L))
    assert(counts.heaviest(2).getLeftOut === 4)
  }

  test("what is out of range is refused, and nothing of its message is added") {
    val counts = new SlotPairCounts(10)
    val good = SlotPairs.newBuilder().addUpstream(1).addDownstream(3).addRows(2).setLeftOut(1)
    def refused(message: SlotPairs.Builder): Unit = {
      intercept[InvalidSketch](counts.addAll(message.build(), 2, 4))
      assert(counts.size === 0 && counts.leftOut === 0)
    }
    refused(good.clone().addUpstream(1))
    refused(good.clone().addUpstream(2).addDownstream(0).addRows(1))
    refused(good.clone().addUpstream(0).addDownstream(-1).addRows(1))
    refused(good.clone().addUpstream(0).addDownstream(0).addRows(-1))
    counts.addAll(good.build(), 2, 4)
    assert(counts.rowsOf(1, 3) === 2 && counts.leftOut === 1)
  }
}
