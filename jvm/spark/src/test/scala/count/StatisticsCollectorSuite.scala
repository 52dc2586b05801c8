package org.apache.spark.sql.keyroute.count

import java.util.UUID
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.{CountDownLatch, Executors}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.proto.v1.{BatchStatus, MapTaskCounts, Period, QueryStatistics, ReduceTaskReads}

class StatisticsCollectorSuite extends AnyFunSuite {

  private class Fixture(periodRows: Long = 100, periods: Int = 3) {
    var now: Long = 0
    var applied: Seq[(UUID, Long, Long)] = Nil
    val collector = new StatisticsCollector(
      History(periodRows, periods),
      () => now,
      (run, batch, ms) => applied = applied :+ ((run, batch, ms))
    )
    val query: RunningQuery = Reports.query()
    collector.started(query)

    def send(counts: MapTaskCounts): Unit =
      collector.received(TaskReports.MapCounts +: counts.toByteArray)
    def send(reads: ReduceTaskReads): Unit =
      collector.received(TaskReports.ReduceReads +: reads.toByteArray)
    def wrote(batch: Long, map: Int, executor: String, rows: Long*): Unit =
      send(Reports.wrote(query, batch, map, executor, rows))
    def read(batch: Long, executors: String*): Unit =
      executors.zipWithIndex.foreach { case (e, p) => send(Reports.read(query, batch, p, e)) }
    def end(batch: Long, rows: Long): Unit =
      collector.batchEnded(query.runId, batch, rows, durationMs = 7)
    def settle(): Unit = now += 1000
    def statistics: QueryStatistics = collector.query(query.queryId).get
    def periods: Seq[Period] = statistics.getPeriodsList.asScala.toSeq
    def batches: Seq[BatchStatus] = collector.batches(query.runId)
    def rowsOfGroup: Seq[Long] = periods.map(_.getGroupsList.asScala.map(_.getRows).sum)
  }

  test("a batch: rows, locality, imbalance, bytes and time") {
    val f = new Fixture
    f.wrote(0, 0, "a", 6, 0, 0)
    f.read(0, "a", "b", "c")
    f.wrote(0, 1, "b", 0, 1, 2)
    f.collector.shuffled(f.query.queryId, 0, ShuffleBytes(10, 20))
    f.end(0, 9)
    assert(f.batches.isEmpty, "the batch is closed a little later")
    f.settle()
    val batch = f.batches.head
    assert((batch.getInputRows, batch.getDurationMs) == (9L, 7L))
    assert((batch.getEdgeRows, batch.getLocalRows) == (9L, 7L))
    assert((batch.getLocalBytes, batch.getRemoteBytes) == (10L, 20L))
    assert(batch.getImbalanceList.asScala.map(_.doubleValue) == Seq(2.0, 1.0))
    assert(batch.getPartitionRows(0).getRowsList.asScala.map(_.longValue) == Seq(6, 1, 2))
  }

  test("a stream's thread does not wait for a report that is being taken in") {
    val (entered, leave) = (new CountDownLatch(1), new CountDownLatch(1))
    @volatile var blocking = false
    val collector = new StatisticsCollector(
      History(100, 3),
      () => {
        if (blocking) {
          entered.countDown()
          leave.await()
        }
        0L
      },
      (_, _, _) => ()
    )
    val query = Reports.query()
    collector.started(query)
    collector.received(TaskReports.ReduceReads +: Reports.read(query, 0, 1, "a").toByteArray)
    blocking = true
    val merging = new Thread(() =>
      collector.received(TaskReports.ReduceReads +: Reports.read(query, 0, 2, "b").toByteArray)
    )
    merging.start()
    try {
      assert(entered.await(20, SECONDS))
      val stream = Executors.newSingleThreadExecutor()
      try {
        val seen = stream.submit[Map[(Long, Int), String]] { () =>
          collector.switched(query.runId, 1, 5)
          collector.started(Reports.query())
          collector.placement(query.runId)
        }
        assert(seen.get(20, SECONDS) == Map((0L, 1) -> "a"))
      } finally stream.shutdownNow()
    } finally {
      leave.countDown()
      merging.join(20000)
    }
    assert(collector.query(query.queryId).exists(_.getTableVersion == 5))
  }

  test("a period: slots, keys and pairs are merged over map tasks and batches") {
    val f = new Fixture
    Seq(0L, 1L).foreach { batch =>
      f.wrote(batch, 0, "a", 6, 0, 0)
      f.wrote(batch, 1, "b", 0, 1, 3)
      f.read(batch, "a", "b", "c")
      f.end(batch, 10)
    }
    f.settle()
    val period = f.periods.head
    assert((period.getFirstBatch, period.getLastBatch, period.getRows) == (0L, 1L, 20L))
    val group = period.getGroups(0)
    assert(group.getRows == 20 && group.getExplicitRows == 10)
    assert(group.getSlotRows(0) == 12 && group.getSlotRows(1) == 8)
    assert(group.getSlotRowsCount == Reports.shape(0).slots)
    assert(group.getKeys.getFingerprintsList.asScala.map(_.longValue) == Seq(0, 2, 1))
    assert(group.getKeys.getCountsList.asScala.map(_.longValue) == Seq(12, 6, 2))
    val edge = period.getEdges(0)
    assert((edge.getUpstreamGroup, edge.getDownstreamGroup) == (1L, 0L))
    assert((edge.getRows, edge.getLocalRows, edge.getUpstreamKey) == (20L, 14L, "attribute"))
    assert(edge.getPairs.getCountsList.asScala.map(_.longValue) == Seq(12, 6, 2))
  }

  test("the heaviest keys of a group, of closed periods and of batches that are not over") {
    val f = new Fixture(periodRows = 5)
    f.wrote(0, 0, "a", 6, 0, 0)
    f.end(0, 6)
    f.settle()
    f.wrote(1, 0, "a", 0, 1, 9)
    assert(f.collector.heaviest(f.query.runId, 0) == Seq(2, 0, 1))
    assert(f.collector.heaviest(f.query.runId, 1).isEmpty)
    assert(f.collector.heaviest(UUID.randomUUID(), 0).isEmpty)
  }

  test("a map task counts once: speculation, retries, recomputed stages") {
    val f = new Fixture
    f.wrote(0, 0, "a", 5, 0, 0)
    f.wrote(0, 0, "b", 5, 0, 0)
    f.wrote(0, 0, "a", 4, 1, 0)
    f.read(0, "a", "b", "c")
    f.read(0, "b", "c", "a")
    f.end(0, 5)
    f.settle()
    assert(f.rowsOfGroup == Seq(5L))
    assert((f.batches.head.getEdgeRows, f.batches.head.getLocalRows) == (5L, 5L))
  }

  test("a late report goes into the open period, once") {
    val f = new Fixture
    f.wrote(0, 0, "a", 5, 0, 0)
    f.end(0, 5)
    f.settle()
    assert(f.batches.size == 1)
    f.wrote(0, 1, "b", 0, 3, 0)
    f.wrote(0, 1, "b", 0, 3, 0)
    f.wrote(0, 0, "a", 5, 0, 0)
    f.read(0, "a", "b", "c")
    assert(f.rowsOfGroup == Seq(8L))
    assert(f.periods.head.getEdges(0).getRows == 8)
  }

  test("periods are closed by their rows, and the last ones kept") {
    val f = new Fixture(periodRows = 10, periods = 2)
    (0L to 8L).foreach { batch =>
      f.wrote(batch, 0, "a", 5, 0, 0)
      f.end(batch, 5)
      f.settle()
    }
    assert(f.periods.map(p => (p.getFirstBatch, p.getLastBatch, p.getRows)) ==
      Seq((4L, 5L, 10L), (6L, 7L, 10L), (8L, 8L, 5L)))
    assert(f.statistics.getBatch == 8)
  }

  test("a change of tables closes the period, and late reports find theirs") {
    val f = new Fixture
    f.wrote(0, 0, "a", 5, 0, 0)
    f.end(0, 5)
    f.collector.switched(f.query.runId, 1, 3)
    f.wrote(1, 0, "a", 7, 0, 0)
    f.wrote(0, 1, "a", 1, 0, 0)
    f.end(1, 7)
    f.settle()
    f.wrote(0, 2, "a", 1, 0, 0)
    assert(f.periods.map(p => (p.getTableVersion, p.getRows)) == Seq((0L, 5L), (3L, 7L)))
    assert(f.rowsOfGroup == Seq(7L, 7L))
    assert(f.batches.map(_.getTableVersion) == Seq(0L, 3L))
    assert(f.statistics.getTableVersion == 3)
  }

  test("placement is what reads show, and forgets a lost executor") {
    val f = new Fixture
    f.collector.executorAdded("1", "host-1")
    f.read(0, "1", "2", "1")
    f.read(1, "2", "2", "1")
    assert(f.statistics.getPlacementList.asScala
      .map(p => (p.getGroup, p.getPartition, p.getExecutor, p.getHost)) ==
      Seq((0L, 0, "2", ""), (0L, 1, "2", ""), (0L, 2, "1", "host-1")))
    f.collector.executorRemoved("2")
    assert(f.collector.placement(f.query.runId) == Map((0L, 2) -> "1"))
  }

  test("what does not fit is dropped: groups, partitions, slots, runs, garbage") {
    val f = new Fixture
    f.send(Reports.wrote(f.query, 0, 0, "a", Seq(1, 1, 1), group = 9))
    f.send(Reports.wrote(f.query, 0, 1, "a", Seq(1, 1)))
    f.send(Reports.wrote(f.query, 0, 2, "a", Seq(1, 1, 1)).toBuilder.setSlots(0, 1 << 20).build())
    f.send(Reports.wrote(Reports.query(), 0, 3, "a", Seq(1, 1, 1)))
    f.send(Reports.read(f.query, 0, 99, "a"))
    f.collector.received(Array[Byte](1, 2, 3))
    f.collector.received(Array[Byte](42))
    f.end(0, 1)
    f.settle()
    assert(f.rowsOfGroup == Seq(0L))
    assert(f.collector.placement(f.query.runId).isEmpty)
  }

  test("without progress events memory stays bounded") {
    val f = new Fixture(periodRows = 1, periods = 2)
    (0L until 1000L).foreach(batch => f.wrote(batch, 0, "a", 5, 0, 0))
    assert(f.batches.size == RunStatistics.MostBatches)
    assert(f.periods.size <= 3)
    // Long closed and forgotten.
    f.wrote(1, 5, "a", 5, 0, 0)
    assert(f.periods.last.getGroups(0).getRows == 5L * (1000 - RunStatistics.MostPending))
  }

  test("many queries that have ended do not pile up") {
    val f = new Fixture
    val queries = Seq.fill(100)(Reports.query())
    queries.foreach { q =>
      f.collector.started(q)
      f.collector.ended(q.runId)
    }
    assert(queries.count(q => f.collector.query(q.queryId).isDefined) ==
      StatisticsCollector.MostEnded)
    assert(f.collector.query(f.query.queryId).isDefined)
  }

  test("a query that is started again counts anew, and the old run's reports are dropped") {
    val f = new Fixture
    f.wrote(0, 0, "a", 5, 0, 0)
    val again = Reports.query(f.query.queryId, version = 4, since = 1)
    f.collector.started(again)
    f.wrote(0, 1, "a", 5, 0, 0)
    f.send(Reports.wrote(again, 1, 0, "a", Seq(2, 0, 0)))
    f.collector.batchEnded(again.runId, 1, 2, 1)
    f.settle()
    assert(f.periods.map(p => (p.getTableVersion, p.getGroups(0).getRows)) == Seq((4L, 2L)))
  }

  test("applies of stores are passed on") {
    val f = new Fixture
    val body = java.nio.ByteBuffer.allocate(33).put(TaskReports.StoreApplied)
      .putLong(f.query.runId.getMostSignificantBits).putLong(f.query.runId.getLeastSignificantBits)
      .putLong(4).putLong(120)
    f.collector.received(body.array())
    assert(f.applied == Seq((f.query.runId, 4L, 120L)))
  }
}
