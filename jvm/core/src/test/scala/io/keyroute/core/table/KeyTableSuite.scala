package io.keyroute.core.table

import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class KeyTableSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def build(entries: Map[Long, Int]): KeyTable = {
    val fingerprints = entries.keys.toArray.sorted
    KeyTable.build(fingerprints, fingerprints.map(entries))
  }

  test("a table answers as a map does, for keys that it has and keys that it has not") {
    forAll(Shapes.genEntries) { entries =>
      forAll { (strangers: List[Long]) =>
        val table = build(entries)
        (entries.keys ++ strangers ++ Seq(0L, -1L)).foreach { k =>
          assert(table.lookup(k) === entries.getOrElse(k, KeyTable.Absent))
        }
      }
      assert(build(entries).sortedFingerprints.toSeq === entries.keys.toSeq.sorted)
    }
  }

  test("an empty table has no entry, not even for fingerprint 0") {
    assert(KeyTable.empty.lookup(0L) === -1)
    assert(KeyTable.empty.size === 0)
  }

  test("fingerprints that follow a pattern stay near their places") {
    val patterns = Seq[Long => Long](identity, _ << 32, _ << 44, i => i * 0x100000001L, -_)
    patterns.zipWithIndex.foreach { case (pattern, number) =>
      val fingerprints = Array.tabulate(100000)(i => pattern(i.toLong)).sorted
      val table = KeyTable.build(fingerprints, fingerprints.map(_ => 1))
      // Linear probing at three quarters expects 1.5 for random keys, as XXH64's; 8 is no cluster.
      val mean = fingerprints.map(table.probes(_).toLong).sum / fingerprints.length.toDouble
      assert(mean < 8, s"pattern $number")
    }
  }

  test("equal contents are equal, other contents are not") {
    assert(build(Map(1L -> 2, 3L -> 4)) === build(Map(3L -> 4, 1L -> 2)))
    assert(build(Map(1L -> 2)).hashCode === build(Map(1L -> 2)).hashCode)
    assert(build(Map(1L -> 2)) !== build(Map(1L -> 3)))
    assert(build(Map(0L -> 2)) !== build(Map(1L -> 2)))
  }

  test("entries that are not strictly ascending, or do not match, are refused") {
    def refused(fingerprints: Array[Long], targets: Array[Int]): String =
      intercept[InvalidTable](KeyTable.build(fingerprints, targets)).getMessage
    assert(refused(Array(1, 1), Array(0, 0)).contains("not strictly ascending at entry 1"))
    assert(refused(Array(2, 1), Array(0, 0)).contains("not strictly ascending"))
    assert(refused(Array(1), Array(0, 0)).contains("1 fingerprints but 2 targets"))
    assert(refused(Array(1), Array(-1)).contains("4294967295"))
  }
}
