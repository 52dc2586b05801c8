package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.core.table.GroupTable
import io.keyroute.proto.v1.MapTaskCounts

/** What a task of many rows takes of them. */
class TaskSketchesSuite extends AnyFunSuite {
  private val TakenFirst = 4096
  private val TakenEach = 2048

  private val table = GroupTable.empty(Reports.shape(0))
  private val id = ExchangeId(UUID.fromString("00000000-0000-0000-0000-000000000001"), 3, 0, 0)

  /** A task sees the keys, one a row; how many it took. */
  private def taken(
      keys: Iterator[Long],
      sample: Int = 1,
      task: Int = 5,
      after: Int = TakenFirst
  ): (Int, MapTaskCounts) = {
    val limits = CountLimits(32768, 0, sample, after)
    val sketches = new TaskSketches(table, CountedExchange(id, limits, None, false), task)
    var rows = 0
    keys.foreach { key =>
      val slot = (key % table.shape.slots).toInt
      if (sketches.takesNext) {
        rows += 1
        sketches.take(slot, key, fromKnown = false, 0, 0)
      } else sketches.pass(slot)
    }
    val counts = MapTaskCounts.newBuilder()
    sketches.addTo(counts, 1)
    rows -> counts.build()
  }

  private def weights(counts: MapTaskCounts): Map[Long, Long] = {
    val keys = counts.getKeys
    keys.getFingerprintsList.asScala.map(_.longValue)
      .zip(keys.getCountsList.asScala.map(_.longValue)).toMap
  }

  test("a task of few rows takes them all") {
    val (rows, counts) = taken(Iterator.tabulate(TakenFirst)(_ % 100L))
    assert(rows == TakenFirst)
    assert(weights(counts) == (0L until 100L).map(k =>
      k -> (0 until TakenFirst).count(_ % 100 == k).toLong
    ).toMap)
  }

  test("where none shall be left out a task of many rows takes them all, too") {
    val (rows, counts) = taken(Iterator.tabulate(100000)(_ % 100L), after = 0)
    assert(rows == 100000)
    assert(weights(counts).forall(_._2 == 1000))
  }

  test("of a million rows it takes some, for all, and slots stay exact") {
    val random = new Random(7)
    // Key k has 2^-k-1 of the rows.
    val keys = Array.fill(1000000) {
      math.min(30, java.lang.Long.numberOfTrailingZeros(random.nextLong())).toLong
    }
    val (rows, counts) = taken(keys.iterator)
    // 4,096 of as many rows, then 2,048 with each k from 2 to 128 and half of those with 256.
    assert(rows > TakenFirst + 7 * TakenEach && rows < TakenFirst + 8 * TakenEach)
    assert(math.abs(counts.getKeys.getRows - keys.length) < 512)
    val found = weights(counts)
    val exact = keys.groupBy(identity).map { case (k, all) => k -> all.length.toLong }
    // Within five standard deviations of a sample that takes at least one of 256.
    (0L to 5L).foreach { k =>
      assert(math.abs(found(k) - exact(k)) < 5 * math.sqrt(256.0 * exact(k)), s"key $k")
    }
    val slots = keys.groupBy(_ % table.shape.slots).map { case (s, all) => s -> all.length.toLong }
    val counted = counts.getSlotsList.asScala.map(_.longValue)
      .zip(counts.getSlotRowsList.asScala.map(_.longValue)).toMap
    assert(counted == slots)
  }

  test("which of the sampled rows are taken differs from task to task") {
    val first = (0 until 100).count { task =>
      val keys = Iterator.fill(TakenFirst)(1L) ++ Iterator(2L, 3L)
      weights(taken(keys, task = task)._2).contains(2L)
    }
    assert(first > 20 && first < 80)
  }

  test("what is set comes on top") {
    val more = 1000
    val (rows, counts) = taken(Iterator.fill(4 * TakenFirst + more)(1L), sample = 4)
    // The first of them for four rows each, the others for eight.
    assert(math.abs(rows - TakenFirst - more / 8) <= 1)
    assert(math.abs(weights(counts)(1L) - 4 * TakenFirst - more) < 4 + 8)
  }
}
