package io.keyroute.core.table

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class GroupTableSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  test("the empty table routes as Spark does: the hash modulo n, never negative") {
    forAll(Gen.chooseNum(1, 1000), Gen.long, Gen.long) { (n, bits, fingerprint) =>
      val table = GroupTable.empty(Shapes.shape(partitions = n))
      val hash = bits.toInt
      assert(table.route(hash, fingerprint) === Math.floorMod(hash, n))
      assert(table.routeBySlot(hash) === Math.floorMod(hash, n))
      assert(table.explicit.lookup(fingerprint) < 0)
    }
  }

  test("owners that are stated but default route as those that are not stated") {
    val shape = Shapes.shape(partitions = 5)
    val stated = Shapes.table(shape, Map.empty, Array.tabulate(shape.slots)(_ % 5))
    assert(stated.isEmpty)
    forAll { (hash: Int) =>
      assert(stated.routeBySlot(hash) === GroupTable.empty(shape).routeBySlot(hash))
    }
  }

  test("an explicit entry wins, all other keys go by the owner of their slot") {
    forAll(Gen.chooseNum(1, 9).flatMap(Shapes.genTable(0, _)), Gen.long) { (table, bits) =>
      val hash = bits.toInt
      val slot = Math.floorMod(hash, table.shape.slots)
      assert(table.slotOf(hash) === slot)
      assert(table.routeBySlot(hash) === table.ownerOf(slot))
      table.explicit.sortedFingerprints.foreach { f =>
        assert(table.explicit.lookup(f) >= 0)
        assert(table.route(hash, f) === table.explicit.lookup(f))
      }
      assert(table.entries === table.explicit.size)
      assert(table.isEmpty === (table.entries == 0 && table.hasDefaultOwners))
    }
  }

  test("targets and owners outside the partitions, and owners that do not match, are refused") {
    val shape = Shapes.shape(partitions = 3)
    def refused(table: => GroupTable): String = intercept[InvalidTable](table).getMessage
    assert(refused(Shapes.table(shape, Map(1L -> 3))).contains("entry 0 goes to partition 3 of 3"))
    assert(refused(Shapes.table(shape, Map(1L -> -1))).contains("4294967295"))
    assert(refused(Shapes.table(shape, Map.empty, Array(0, 1))).contains("2 slot owners for 1026"))
    val owners = Array.fill(shape.slots)(0)
    owners(7) = 3
    assert(refused(Shapes.table(
      shape,
      Map.empty,
      owners
    )).contains("slot 7 belongs to partition 3"))
    assert(refused(GroupTable.build(
      shape,
      Array(2L, 1L),
      Array(0, 0)
    )).startsWith("group 0: the fing"))
    val unrouted = shape.copy(routingOrdinals = Nil)
    assert(refused(Shapes.table(unrouted, Map(1L -> 1))).contains("no routing columns"))
    val moving = Shapes.shape(partitions = 3, stable = false)
    assert(refused(Shapes.table(moving, Map.empty, Array.fill(moving.slots)(0))).contains("window"))
  }

  test("tables are equal by content") {
    val shape = Shapes.shape()
    assert(Shapes.table(shape, Map(1L -> 2)) === Shapes.table(shape, Map(1L -> 2)))
    assert(Shapes.table(shape, Map(1L -> 2)) !== Shapes.table(shape, Map(1L -> 1)))
    assert(GroupTable.empty(shape) !== GroupTable.empty(Shapes.shape(2)))
  }
}
