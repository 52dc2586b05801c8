package io.keyroute.core.table

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class GroupShapeSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val shape = Shapes.shape()

  test("the default number of slots is the least multiple of n that is at least max(1024, 8n)") {
    assert(GroupShape.defaultSlots(3) === 1026)
    assert(GroupShape.defaultSlots(128) === 1024)
    assert(GroupShape.defaultSlots(200) === 1600)
    forAll(Gen.chooseNum(1, 1 << 21)) { n =>
      val slots = GroupShape.defaultSlots(n)
      assert(slots % n === 0)
      assert(slots >= math.max(1024, 8 * n))
      assert(slots - n < math.max(1024, 8 * n))
    }
    intercept[InvalidTable](GroupShape.defaultSlots(0))
    intercept[InvalidTable](GroupShape.defaultSlots(Int.MaxValue))
  }

  test("a shape goes through its message and back") {
    Seq(shape, Shapes.shape(4, 7, stable = false), shape.copy(routingOrdinals = Nil)).foreach { s =>
      assert(GroupShape.fromProto(s.toProto) === s)
    }
  }

  test("a shape whose fields contradict each other is refused with a sentence") {
    def refused(change: => GroupShape): String = intercept[InvalidTable](change).getMessage
    assert(refused(shape.copy(partitions = 5)).contains("1026 slots are not a multiple of its 5"))
    assert(refused(shape.copy(partitions = 0)).contains("0 partitions"))
    assert(refused(shape.copy(slots = 0)).contains("0 slots"))
    assert(refused(shape.copy(slots = GroupShape.MaxSlots / 3 * 3 + 3)).contains("slots"))
    assert(refused(shape.copy(operators = Seq(1))).contains("smallest operator id"))
    assert(refused(shape.copy(operators = Seq(0, 0))).contains("not ascending"))
    assert(refused(shape.copy(routingOrdinals = Seq(0, 2))).contains("exceed its 2 key columns"))
    assert(refused(shape.copy(routingOrdinals = Seq(1, 0))).contains("not ascending"))
    assert(refused(shape.copy(keyTypes = Nil)).contains("2 key names but 0 key types"))
  }

  test("an unknown hash function is refused") {
    val proto = shape.toProto.toBuilder.setHashValue(7).build()
    assert(intercept[InvalidTable](GroupShape.fromProto(proto)).getMessage.contains("function 7"))
  }

  test("a mismatch says what differs, on either side") {
    assert(shape.mismatch(shape.copy()) === None)
    Seq(
      shape.copy(partitions =
        6
      ) -> "number of partitions of group 0: the query has 3, the table has 6",
      shape.copy(slots = 3) -> "number of slots",
      shape.copy(keyTypes = Seq("INT", "INT")) -> "key types",
      shape.copy(keyNames = Seq("a", "b")) -> "key names",
      shape.copy(routingOrdinals =
        Nil
      ) -> "routing columns of group 0: the query has [0], the table has []",
      shape.copy(operators = Seq(0)) -> "operators",
      shape.copy(stableSlots = false) -> "stability",
      Shapes.shape(2) -> "group id"
    ).foreach { case (other, expected) =>
      assert(shape.mismatch(other).exists(_.contains(expected)))
    }
  }
}
