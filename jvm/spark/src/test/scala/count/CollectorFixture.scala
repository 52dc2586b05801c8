package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.proto.v1.{BatchStatus, MapTaskCounts, Period, QueryStatistics, ReduceTaskReads}

/** A collector with one query, and what its executors report. */
private class CollectorFixture(periodRows: Long = 100, periods: Int = 3, reset: Boolean = false) {
  var now: Long = 0
  var applied: Seq[(UUID, Long, Long)] = Nil
  val collector = new StatisticsCollector(
    History(periodRows, periods, resetOnSwitch = reset),
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
