package org.apache.spark.sql.keyroute.count

import java.util.UUID
import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.{CountDownLatch, Executors}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.proto.v1.SlotPairs

class StatisticsCollectorSuite extends AnyFunSuite {

  test("a batch: rows, locality, imbalance, bytes and time") {
    val f = new CollectorFixture
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
          collector.switched(query.runId, 1, 5, None)
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
    val f = new CollectorFixture
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
    val f = new CollectorFixture(periodRows = 5)
    f.wrote(0, 0, "a", 6, 0, 0)
    f.end(0, 6)
    f.settle()
    f.wrote(1, 0, "a", 0, 1, 9)
    assert(f.collector.heaviest(f.query.runId, 0) == Seq(2, 0, 1))
    val g = new CollectorFixture(periodRows = 5, periods = 5)
    (0L to 6L).foreach { batch =>
      g.wrote(batch, 0, "a", if (batch == 3) 40 else 0, 6, 0)
      g.end(batch, 6)
      g.settle()
    }
    assert(g.periods.map(_.getFirstBatch) == (2L to 6L))
    assert(g.collector.heaviest(g.query.runId, 0) == Seq(0, 1))
    assert(f.collector.heaviest(f.query.runId, 1).isEmpty)
    assert(f.collector.heaviest(UUID.randomUUID(), 0).isEmpty)
  }

  test("a change of tables forgets what was before, where that is wanted") {
    val f = new CollectorFixture(periodRows = 5, reset = true)
    Seq(0L, 1L).foreach { batch =>
      f.wrote(batch, 0, "a", 5, 0, 0)
      f.end(batch, 5)
    }
    f.collector.switched(f.query.runId, 2, 3, None)
    f.wrote(2, 0, "a", 7, 0, 0)
    f.end(2, 7)
    f.settle()
    f.wrote(1, 1, "a", 1, 0, 0)
    assert(f.periods.map(p => (p.getTableVersion, p.getGroups(0).getRows)) == Seq((3L, 7L)))
  }

  test("a map task counts once: speculation, retries, recomputed stages") {
    val f = new CollectorFixture
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
    val f = new CollectorFixture
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
    val f = new CollectorFixture(periodRows = 10, periods = 2)
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
    val f = new CollectorFixture
    f.wrote(0, 0, "a", 5, 0, 0)
    f.end(0, 5)
    f.collector.switched(f.query.runId, 1, 3, None)
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
    val f = new CollectorFixture
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
    val f = new CollectorFixture
    f.send(Reports.wrote(f.query, 0, 0, "a", Seq(1, 1, 1), group = 9))
    f.send(Reports.wrote(f.query, 0, 1, "a", Seq(1, 1)))
    f.send(Reports.wrote(f.query, 0, 2, "a", Seq(1, 1, 1)).toBuilder.setSlots(0, 1 << 20).build())
    val outside = Reports.wrote(f.query, 0, 4, "a", Seq(1, 0, 0)).toBuilder
    f.send(outside.setKeys(outside.getKeys.toBuilder.addSlots(1026)).build())
    val cell = SlotPairs.newBuilder().addUpstream(0).addDownstream(1026).addRows(1)
    f.send(Reports.wrote(f.query, 0, 5, "a", Seq(1, 0, 0)).toBuilder.setSlotPairs(cell).build())
    val twice = Reports.wrote(f.query, 0, 6, "a", Seq(1, 0, 0)).toBuilder
    f.send(twice.setPairs(twice.getPairs.toBuilder.addUpstream(1)).build())
    f.send(Reports.wrote(Reports.query(), 0, 3, "a", Seq(1, 1, 1)))
    f.send(Reports.read(f.query, 0, 99, "a"))
    f.collector.received(Array[Byte](1, 2, 3))
    f.collector.received(Array[Byte](42))
    f.end(0, 1)
    f.settle()
    assert(f.rowsOfGroup == Seq(0L))
    assert(f.collector.placement(f.query.runId).isEmpty)
  }

  test("an edge from a group that is not the query's is left aside, its rows counted") {
    val f = new CollectorFixture
    f.send(Reports.wrote(f.query, 0, 0, "a", Seq(3, 0, 0), upstream = 9))
    f.read(0, "a", "b", "c")
    f.wrote(0, 1, "a", 2, 0, 0)
    f.end(0, 5)
    f.settle()
    assert(f.rowsOfGroup == Seq(5L) && f.periods.head.getEdgesCount == 1)
    assert(f.periods.head.getEdges(0).getPairs.getRows == 2)
    assert(f.batches.head.getEdgeRows <= 5)
  }

  test("without progress events memory stays bounded") {
    val f = new CollectorFixture(periodRows = 1, periods = 2)
    (0L until 1000L).foreach(batch => f.wrote(batch, 0, "a", 5, 0, 0))
    assert(f.batches.size == RunStatistics.MostBatches)
    assert(f.periods.size <= 3)
    // Long closed and forgotten.
    f.wrote(1, 5, "a", 5, 0, 0)
    assert(f.periods.last.getGroups(0).getRows == 5L * (1000 - RunStatistics.MostPending))
  }

  test("many queries that have ended do not pile up") {
    val f = new CollectorFixture
    val queries = Seq.fill(100)(Reports.query())
    queries.foreach { q =>
      f.collector.started(q)
      f.collector.ended(q.runId)
    }
    assert(queries.count(q => f.collector.query(q.queryId).isDefined) ==
      StatisticsCollector.MostEnded)
    assert(f.collector.query(f.query.queryId).isDefined)
  }

  test("of a query that has ended only the newest periods are kept") {
    val f = new CollectorFixture(periodRows = 5, periods = 5)
    (0L to 4L).foreach { batch =>
      f.wrote(batch, 0, "a", 5, 0, 0)
      f.end(batch, 5)
      f.settle()
    }
    assert(f.periods.map(_.getFirstBatch) == (0L to 4L))
    f.collector.ended(f.query.runId)
    assert(f.periods.map(_.getFirstBatch) == Seq(3L, 4L))
  }

  test("a query that is started again counts anew, and the old run's reports are dropped") {
    val f = new CollectorFixture
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
    val f = new CollectorFixture
    val body = java.nio.ByteBuffer.allocate(33).put(TaskReports.StoreApplied)
      .putLong(f.query.runId.getMostSignificantBits).putLong(f.query.runId.getLeastSignificantBits)
      .putLong(4).putLong(120)
    f.collector.received(body.array())
    assert(f.applied == Seq((f.query.runId, 4L, 120L)))
  }
}
