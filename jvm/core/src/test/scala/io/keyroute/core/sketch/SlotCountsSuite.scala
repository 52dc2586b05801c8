package io.keyroute.core.sketch

import scala.jdk.CollectionConverters._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.keyroute.proto.v1.MapTaskCounts

class SlotCountsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("the message has the rows of each slot that has some, ascending") {
    forAll(Gen.listOf(Gen.chooseNum(0, 63))) { slots =>
      val counts = new SlotCounts(64)
      slots.foreach(counts.add)
      val message = MapTaskCounts.newBuilder()
      counts.addTo(message)
      val told = message.getSlotsList.asScala.map(_.intValue)
        .zip(message.getSlotRowsList.asScala.map(_.longValue))
      assert(told === slots.groupBy(identity).map { case (s, of) =>
        (s, of.size.toLong)
      }.toSeq.sorted)
    }
  }
}
