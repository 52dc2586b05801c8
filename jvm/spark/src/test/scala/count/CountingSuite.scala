package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually.{eventually, interval, timeout}
import org.scalatest.time.SpanSugar._

import org.apache.spark.TaskContext
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, count, expr, lit, timestamp_seconds, udf, window}
import org.apache.spark.sql.keyroute.route.{KeyHash, RoutedExchangeExec, RowRouter, StreamingTest}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

import io.keyroute.core.sketch.SlotPairCounts
import io.keyroute.core.table.{GroupShape, GroupTable, RoutingTables}
import io.keyroute.proto.v1.MapTaskCounts

/** What map and reduce tasks report, mostly for chains of two operators: op 1 by `k`, op 0
  * downstream. */
class CountingSuite extends CountingTest {
  import CountingTest._
  import StreamingTest._

  test("partitions, slots and keys are counted exactly, in every exchange") {
    Seq("empty", "random").foreach { tables =>
      val (run, counts) = counted(tables = tables)(twoDedups)
      assert(counts.map(_.getGroup).toSet == Set(0L, 1L))
      counts.groupBy(_.getGroup).foreach { case (_, group) =>
        assert(group.flatMap(_.getSlotRowsList.asScala).map(_.longValue).sum == rows(group))
        assert(group.map(_.getKeys.getRows).sum == rows(group))
      }
      assert(rows(counts.filter(_.getGroup == 1L)) == feeds.flatten.flatten.size)
      val byTable = run.nodes { case e: RoutedExchangeExec => e.metrics("rowsByTable").value }.sum
      assert(counts.map(_.getExplicitRows).sum == byTable && (byTable > 0) == (tables == "random"))
    }
  }

  test("pairs: the upstream key is found by its attribute, and counted as it was routed") {
    val (_, counts) = counted()(twoDedups)
    val (downstream, upstream) = counts.partition(_.getGroup == 0L)
    assert(downstream.map(c => (c.getUpstreamGroup, c.getUpstreamKey)).toSet == Set((
      1L,
      "attribute"
    )))
    assert(upstream.map(c => (c.getUpstreamGroup, c.getUpstreamKey)).toSet == Set((-1L, "")))
    val routed = upstream.flatMap(_.getKeys.getFingerprintsList.asScala).toSet
    val paired = downstream.flatMap(_.getPairs.getUpstreamList.asScala).toSet
    assert(paired.size == 150 && paired == routed)
    assert(downstream.map(_.getPairs.getRows).sum == rows(downstream))
  }

  test("the slot of each key, and the matrix of slots, are those of the keys' hashes") {
    val (_, counts) = counted()(twoDedups)
    val (down, up) = counts.partition(_.getGroup == 0L)
    val table = GroupTable.empty(Reports.shape(0).copy(
      partitions = Partitions,
      slots = GroupShape.defaultSlots(Partitions)
    ))
    def keyed(types: DataType*)(key: Any*): (Long, Int) = {
      val router = new RowRouter(KeyHash.ofKeyRow(types, types.indices))
      router.take(InternalRow.fromSeq(key))
      router.fingerprint -> table.slotOf(router.hash)
    }
    // Each key passes the first operator once.
    val keys = feeds.flatten.flatten.distinct.map { e =>
      val k = UTF8String.fromString(e.k)
      keyed(StringType)(k) -> keyed(StringType, LongType)(k, e.v % 10)
    }
    def slots(counts: Seq[MapTaskCounts]) = counts.flatMap { c =>
      c.getKeys.getFingerprintsList.asScala.map(_.longValue)
        .zip(c.getKeys.getSlotsList.asScala.map(_.intValue))
    }.toSet
    assert(keys.size == 150)
    assert(slots(up) == keys.map(_._1).toSet && slots(down) == keys.map(_._2).toSet)
    val cells = new SlotPairCounts(1000)
    down.foreach(c => cells.addAll(c.getSlotPairs, table.shape.slots, table.shape.slots))
    val expected = new SlotPairCounts(1000)
    keys.foreach { case ((_, from), (_, to)) => expected.add(from, to) }
    assert(cells.toProto == expected.toProto && cells.leftOut == 0)
    assert(!up.exists(_.hasSlotPairs))
    assert(up.forall(_.getReadsSource) && !down.exists(_.getReadsSource))
  }

  test("keys whose slot changes with the window have none, and there is no matrix") {
    val (_, counts) = counted() { frame =>
      frame.dropDuplicates("k").withColumn("ts", timestamp_seconds(col("v") + 1))
        .groupBy(window(col("ts"), "1 minute"), col("k")).agg(count(lit(1)))
    }
    val (down, up) = counts.partition(_.getGroup == 0L)
    assert(down.map(_.getUpstreamKey).toSet == Set("attribute"))
    assert(down.map(_.getKeys.getFingerprintsCount).sum > 0)
    assert(down.map(_.getKeys.getSlotsCount).sum == 0 && !down.exists(_.hasSlotPairs))
    assert(up.forall(c => c.getKeys.getSlotsCount == c.getKeys.getFingerprintsCount))
  }

  test("a sample of every third row counts for three; slots and partitions stay exact") {
    val settings = Map(
      "spark.keyroute.statistics.sample" -> "3",
      "spark.keyroute.statistics.slotPairs" -> "0"
    )
    val (_, counts) = counted(settings)(twoDedups)
    counts.foreach { c =>
      val rows = c.getSlotRowsList.asScala.map(_.longValue).sum
      assert(rows == c.getPartitionRowsList.asScala.map(_.longValue).sum)
      assert(c.getKeys.getRows % 3 == 0 && math.abs(c.getKeys.getRows - rows) < 3)
      assert(!c.hasSlotPairs)
    }
    assert(counts.map(_.getKeys.getRows).sum > 0)
  }

  test("which rows a sample takes differs from task to task and from batch to batch") {
    val run = UUID.randomUUID()
    Seq(2, 3, 31).foreach { every =>
      val byTask = (0 until 100 * every)
        .map(task => TaskSketches.phase(ExchangeId(run, 7, 0, 0), task, every))
      val byBatch = (0 until 100 * every)
        .map(batch => TaskSketches.phase(ExchangeId(run, batch.toLong, 0, 0), 7, every))
      Seq(byTask, byBatch).foreach { phases =>
        val each = phases.groupBy(identity).values.map(_.size)
        assert(each.size == every && each.forall(n => n > 50 && n < 200))
      }
    }
  }

  test("no state is told of partitions that one task reads together") {
    val (run, _) = counted()(_.dropDuplicates("k").coalesce(2))
    val expected = run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    // 4 partitions in 2 tasks.
    assert(!Driver.reads.exists(r => r.hasStateRows || r.hasStateBytes || r.hasRunMs))
  }

  test("a store that does not count its rows is not said to be empty") {
    val track = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
    val (run, _) = counted(Map(track -> "false"))(twoDedups)
    val expected = 2 * run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    assert(!Driver.reads.exists(r => r.hasStateRows || r.hasStateBytes))
    assert(Driver.reads.forall(_.hasRunMs))
  }

  test("a method that another release of Spark does not have costs the report and no task") {
    TaskReports.attempt(throw new NoSuchMethodError("meant to be missing"))
    assertThrows[OutOfMemoryError](TaskReports.attempt(throw new OutOfMemoryError("meant")))
  }

  test("the attempt that fails says nothing") {
    val failing = udf { (v: Long) =>
      val task = TaskContext.get()
      if (task.partitionId() == 0 && task.attemptNumber() == 0 && v > 100)
        throw new IllegalStateException("meant to fail")
      v
    }.asNondeterministic()
    val (_, counts) = counted()(_.withColumn("v", failing(col("v"))).dropDuplicates("k"))
    assert(rows(counts) == feeds.flatten.flatten.size)
    assert(counts.map(c =>
      (c.getBatch, c.getExchange, c.getMapPartition)
    ).distinct.size == counts.size)
  }

  test("a value that a session sets and that cannot be read is as if it were not set") {
    val bad = Seq("spark.keyroute.statistics.counters", "spark.keyroute.enabled")
      .map(_ -> "abc").toMap
    val (_, counts) = counted(bad)(twoDedups)
    assert(counts.map(_.getKeys.getCapacity).toSet == Set(32768))
    val (_, none) = counted(Map("spark.keyroute.statistics.counters" -> "0"))(twoDedups)
    assert(none.map(_.getKeys.getCapacity).toSet == Set(32768))
  }

  test("a driver that cannot be reached costs the reports and no task") {
    Driver.received.clear()
    Driver.reachable = false
    val run =
      try streamed("random", feeds, OutputMode.Update())(s => twoDedups(s.head))
      finally Driver.reachable = true
    assert(Driver.received.isEmpty)
    assert(run.batches == streamed("none", feeds, OutputMode.Update())(s =>
      twoDedups(s.head)
    ).batches)
  }

  test("the more map tasks there are, the fewer counters each sends") {
    val limits = CountLimits(32768, 65536, 1)
    val tasks = Seq(0, 1, 2, 16, 1000)
    assert(tasks.map(limits.countersSent) == Seq(32768, 32768, 16384, 2048, 1024))
    assert(tasks.map(limits.slotPairsSent) == Seq(65536, 65536, 65536, 16384, 1024))
    assert(limits.copy(slotPairs = 10).slotPairsSent(1000) == 10)
  }

  test("statistics off: nothing is reported") {
    Driver.received.clear()
    val off = Map("spark.keyroute.statistics.enabled" -> "false")
    val run = streamed("random", feeds, settings = off)(s => twoDedups(s.head))
    assert(Driver.received.isEmpty)
    assert(run.nodes { case e: RoutedExchangeExec => e.metrics("rowsByTable").value }.sum > 0)
  }

  test("reduce tasks report their state and run time, once for each partition") {
    val (run, _) = counted()(twoDedups)
    val expected = 2 * run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    assert(Driver.reads.map(r =>
      (r.getBatch, r.getGroup, r.getPartition)
    ).distinct.size == expected)
    // Both operators hold each key that came.
    Seq(100L, 150L).zipWithIndex.foreach { case (keys, batch) =>
      Driver.reads.filter(_.getBatch == batch).groupBy(_.getGroup).values.foreach { reads =>
        assert(reads.map(_.getStateRows).sum == keys && reads.map(_.getStateBytes).sum > 0)
        assert(reads.map(_.getRunMs).sum > 0)
      }
    }
  }

  test("a chain of three operators: each edge has the pairs of its own two keys") {
    val fresh = feeds.flatten.flatten.distinct
    Seq[DataFrame => DataFrame](
      _.withColumn("g", col("v") % 30).withColumn("h", col("v") % 6)
        .dropDuplicates("k").dropDuplicates("g").dropDuplicates("h"),
      // Rows lose the upstream key before each exchange.
      _.dropDuplicates("k").selectExpr("v % 30 as g").dropDuplicates("g").selectExpr("g % 6 as h")
        .dropDuplicates("h")
    ).foreach { query =>
      val (run, counts) = counted()(query)
      assert(counts.map(c => c.getUpstreamGroup -> c.getGroup).toSet ==
        Set(-1L -> 2L, 2L -> 1L, 1L -> 0L))
      assert(pairsOfEdges(run) == Map(
        Edge(2, 1) -> fresh.map(e => (text(e.k), number(e.v % 30)) -> 1L).toMap,
        Edge(1, 0) -> (0L until 30L).map(g => (number(g), number(g % 6)) -> 1L).toMap
      ))
    }
  }

  test("rows of a union's other branch are not the operator's") {
    val (_, counts) = counted()(f => f.dropDuplicates("k").union(f).dropDuplicates("v"))
    assert(counts.filter(_.getGroup == 0L).map(_.getUpstreamGroup).toSet == Set(-1L))
  }

  test("two operators that feed a join, and one above it: each edge is counted as its own") {
    val (run, counts) = counted(mode = OutputMode.Append()) { frame =>
      frame.dropDuplicates("k").selectExpr("k", "v % 10 as w")
        .join(frame.selectExpr("v % 30 as g").dropDuplicates("g"), expr("w = g % 10"))
        .dropDuplicates("k", "w")
    }
    // Both sides' exchanges are the join's.
    assert(counts.map(c => c.getUpstreamGroup -> c.getGroup).toSet ==
      Set(-1L -> 3L, -1L -> 2L, 3L -> 1L, 2L -> 1L, 1L -> 0L))
    val fresh = feeds.flatten.flatten.distinct
    assert(pairsOfEdges(run) == Map(
      Edge(2, 1) -> fresh.map(e => (text(e.k), number(e.v % 10)) -> 1L).toMap,
      Edge(3, 1) -> (0L until 30L).map(g => (number(g), number(g % 10)) -> 1L).toMap,
      // Each row of the left side has three partners.
      Edge(1, 0) -> fresh.map { e =>
        val above = fingerprint(StringType, LongType)(UTF8String.fromString(e.k), e.v % 10)
        (number(e.v % 10), above) -> 3L
      }.toMap
    ))
  }

  /** Rows of each pair of each edge, as the driver knows them in the end. */
  private def pairsOfEdges(run: Run): Map[Edge, Map[(Long, Long), Long]] = {
    val exchanges = run.nodes { case e: RoutedExchangeExec => e }
    eventually(timeout(10.seconds), interval(20.millis)) {
      assert(Driver.reads.size == exchanges.size * Partitions)
    }
    val routing = exchanges.head.routing
    val shapes = routing.shapes.values.toSeq
    val query = Reports.query(runId = routing.route.runId)
      .copy(groups = shapes, inForce = RoutingTables.empty("", shapes))
    val collector = new StatisticsCollector(History(1, 1, settleMs = 0), () => 0, (_, _, _) => ())
    collector.started(query)
    Driver.received.forEach(collector.received(_))
    run.batches.indices.foreach(b => collector.batchEnded(query.runId, b.toLong, 0, 0))
    collector.query(query.queryId).get.getPeriods(0).getEdgesList.asScala.map { e =>
      assert(e.getUpstreamKey == "attribute" && e.getRows == e.getPairs.getRows)
      assert(e.getRows == e.getSlotPairs.getRowsList.asScala.map(_.longValue).sum)
      Edge(e.getUpstreamGroup, e.getDownstreamGroup) -> rowsOfPairs(Seq(e.getPairs))
    }.toMap
  }

  private def fingerprint(types: DataType*)(values: Any*): Long =
    CarriedUpstreamKeySuite.Table.key(types: _*)(values: _*).fingerprint
  private def text(k: String): Long = fingerprint(StringType)(UTF8String.fromString(k))
  private def number(v: Long): Long = fingerprint(LongType)(v)
}
