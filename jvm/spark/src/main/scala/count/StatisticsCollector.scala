package org.apache.spark.sql.keyroute.count

import java.nio.ByteBuffer
import java.util.UUID

import scala.collection.immutable.VectorMap
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.RoutingTables
import io.keyroute.proto.v1.{
  BatchStatus,
  MapTaskCounts,
  PartitionPlacement,
  QueryStatistics,
  ReduceTaskReads
}

/** The driver's statistics: merges what executors report, for the last run of each query.
  * Thread-safe. A report that cannot be read is dropped: it costs statistics, never a query.
  *
  * @param applied
  *   told of each apply of handed-off rows: run, batch, ms
  */
final class StatisticsCollector(
    history: History,
    nowMs: () => Long,
    applied: (UUID, Long, Long) => Unit
) extends Logging {
  // Changed under the collector's lock; each run's counts under the run's own.
  @volatile private var runs = VectorMap.empty[UUID, RunStatistics]
  private var ended = Vector.empty[UUID]
  @volatile private var hosts = Map.empty[String, String]
  @volatile private var zones = Map.empty[String, String]

  def started(query: RunningQuery): Unit = synchronized {
    runs = runs.updated(query.queryId, new RunStatistics(query, history))
    ended = ended.filterNot(_ == query.queryId)
  }

  /** An ended query's newest statistics stay readable until many others have ended too. */
  def ended(runId: UUID): Unit = synchronized {
    runs.values.find(_.query.runId == runId).foreach { run =>
      val (kept, gone) = (run.query.queryId +: ended.filterNot(_ == run.query.queryId))
        .splitAt(StatisticsCollector.MostEnded)
      ended = kept
      runs = runs.removedAll(gone)
      run.synchronized(run.forgetOldPeriods())
    }
  }

  /** By the stream's thread, which does not wait for a merge here.
    *
    * @param tables
    *   of the version, if they are known
    */
  def switched(runId: UUID, batch: Long, version: Long, tables: Option[RoutingTables]): Unit =
    run(runId).foreach(_.switched(batch, version, tables))

  /** A report of an executor: its kind, then its bytes; see [[TaskReports]]. */
  def received(report: Array[Byte]): Unit =
    try {
      val body = ByteBuffer.wrap(report, 1, report.length - 1)
      report(0) match {
        case TaskReports.MapCounts =>
          val counts = MapTaskCounts.parseFrom(body)
          inRun(UUID.fromString(counts.getRunId))(_.add(counts, nowMs()))
        case TaskReports.ReduceReads =>
          val reads = ReduceTaskReads.parseFrom(body)
          inRun(UUID.fromString(reads.getRunId))(_.add(reads, nowMs()))
        case TaskReports.StoreApplied =>
          applied(new UUID(body.getLong, body.getLong), body.getLong, body.getLong)
        case kind => logDebug(s"a report of the unknown kind $kind was dropped")
      }
    } catch { case NonFatal(e) => logDebug("a report that cannot be read was dropped", e) }

  def shuffled(queryId: UUID, batch: Long, bytes: ShuffleBytes): Unit =
    runs.get(queryId).foreach(run => run.synchronized(run.shuffled(batch, bytes, nowMs())))

  def batchEnded(runId: UUID, batch: Long, inputRows: Long, durationMs: Long): Unit =
    inRun(runId)(_.ended(batch, inputRows, durationMs, nowMs()))

  def executorAdded(executor: String, host: String): Unit = synchronized {
    hosts = hosts.updated(executor, host)
  }

  def executorLies(executor: String, zone: String): Unit = synchronized {
    zones = zones.updated(executor, zone)
  }

  def executorRemoved(executor: String): Unit = synchronized {
    hosts = hosts.removed(executor)
    zones = zones.removed(executor)
    runs.values.foreach(_.executorLost(executor))
  }

  /** Executor on which each partition of each group was last read. Does not wait for a merge. */
  def placement(runId: UUID): Map[(Long, Int), String] =
    run(runId).fold(Map.empty[(Long, Int), String])(_.placement)

  /** Fingerprints of the keys of a group that were counted, the heaviest first; of batches that are not
    * over, too. */
  def heaviest(runId: UUID, group: Long): Seq[Long] = run(runId).toSeq.flatMap { run =>
    run.synchronized(run.heaviest(group))
  }

  /** The newest batches of a run, oldest first. */
  def batches(runId: UUID): Seq[BatchStatus] = run(runId).toSeq.flatMap { run =>
    run.synchronized {
      run.settle(nowMs())
      run.batches
    }
  }

  /** None for a query that is not known. */
  def query(queryId: UUID): Option[QueryStatistics] = runs.get(queryId).map { run =>
    run.synchronized {
      run.settle(nowMs())
      QueryStatistics.newBuilder().setFormat(1)
        .setQueryId(queryId.toString).setRunId(run.query.runId.toString)
        .setName(Option(run.query.name).getOrElse(""))
        .setTableVersion(run.version).setBatch(run.lastBatch)
        .addAllPeriods(run.periods.asJava)
        .addAllPlacement(run.placement.toSeq.sortBy(_._1).map(placementOf).asJava)
        .build()
    }
  }

  private def placementOf(seen: ((Long, Int), String)): PartitionPlacement = {
    val ((group, partition), executor) = seen
    PartitionPlacement.newBuilder().setGroup(group).setPartition(partition)
      .setExecutor(executor).setHost(hosts.getOrElse(executor, ""))
      .setZone(zones.getOrElse(executor, "")).build()
  }

  private def run(runId: UUID): Option[RunStatistics] =
    runs.values.find(_.query.runId == runId)

  private def inRun(runId: UUID)(f: RunStatistics => Unit): Unit =
    run(runId).foreach(run => run.synchronized(f(run)))
}

object StatisticsCollector {
  val MostEnded: Int = 8
}
