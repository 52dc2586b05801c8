package io.keyroute.core.sketch

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.MapTaskCounts

class SlotCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def countsOf(slots: Seq[Int]): SlotCounts = {
    val counts = new SlotCounts(64)
    slots.foreach(counts.add(_))
    counts
  }

  private val genSlots: Gen[List[Int]] = Gen.listOf(Gen.chooseNum(0, 63))

  test("counts are exact, and merge by adding") {
    forAll(genSlots, genSlots) { (first, second) =>
      val sum = countsOf(first)
      sum.merge(countsOf(second))
      assert(sum.rows === first.size + second.size)
      (0 until 64).foreach(s => assert(sum.rowsOf(s) === (first ++ second).count(_ == s)))
      assert(sum.toArray === countsOf(first ++ second).toArray)
    }
  }

  test("the message is sparse and adds up to the same counts") {
    forAll(genSlots) { slots =>
      val counts = countsOf(slots)
      val message = MapTaskCounts.newBuilder()
      counts.addTo(message)
      assert(message.getSlotsCount === slots.distinct.size)
      val copy = countsOf(Seq(3))
      copy.clear()
      copy.addAll(message.build())
      assert(copy.toArray === counts.toArray)
    }
  }

  test("slots out of range are refused, and nothing of their message is added") {
    val counts = new SlotCounts(4)
    val outside = MapTaskCounts.newBuilder().addSlots(1).addSlotRows(1).addSlots(4).addSlotRows(1)
    assert(
      intercept[InvalidSketch](counts.addAll(outside.build())).getMessage.contains("slot 4 of 4")
    )
    intercept[InvalidSketch](counts.addAll(MapTaskCounts.newBuilder().addSlots(1).build()))
    intercept[InvalidSketch](counts.merge(new SlotCounts(8)))
    assert(counts.rows === 0)
  }
}
