package org.apache.spark.sql.keyroute.count

import scala.collection.concurrent.TrieMap
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.proto.v1.{BatchStatus, MapTaskCounts, Period, ReduceTaskReads}

/** How much of the past a run keeps.
  *
  * @param periodRows
  *   input rows after which a period is closed
  * @param periods
  *   closed periods that are kept
  * @param settleMs
  *   time from a batch's end until it is closed, for reports that are on their way
  */
final case class History(periodRows: Long, periods: Int, settleMs: Long = 500)

/** Statistics of one run of a query. Reports gather by batch; a batch that is over is closed a
  * little later and joins the open period; periods are closed by their size and at a change of
  * tables. Memory is bounded by the settings, whatever is reported. Not thread-safe but for
  * `switched`, `version`, `placement` and `executorLost`; time comes in. */
private[count] final class RunStatistics(val query: RunningQuery, history: History) {
  private val pending = mutable.TreeMap.empty[Long, PendingBatch]
  private val late = mutable.TreeMap.empty[Long, BatchReports]
  // Read by the stream's thread, which must not wait for a merge.
  private val placed = TrieMap.empty[(Long, Int), String]
  private var closedPeriods = Vector.empty[PeriodCounts]
  private var openPeriod = Option.empty[PeriodCounts]
  private var statuses = Vector.empty[BatchStatus]
  private var lastClosed = -1L
  // The newest last; two are enough for the batches that are not closed yet. Written by the stream's
  // thread alone.
  @volatile private var versions = Vector(query.sinceBatch -> query.inForce.version)

  def switched(batch: Long, version: Long): Unit =
    versions = (versions :+ (batch -> version)).takeRight(2)

  def add(counts: MapTaskCounts, nowMs: Long): Unit = {
    settle(nowMs)
    target(counts.getBatch).foreach { case (reports, period) =>
      if (reports.first(counts) && period.add(counts)) {
        reports.wrote(counts).foreach { case (edge, rows) => period.add(edge, rows) }
      }
    }
  }

  def add(reads: ReduceTaskReads, nowMs: Long): Unit = {
    settle(nowMs)
    query.groups.find(_.group == reads.getGroup)
      .filter(g => reads.getPartition >= 0 && reads.getPartition < g.partitions)
      .foreach { group =>
        placed((group.group, reads.getPartition)) = reads.getExecutor
        target(reads.getBatch).foreach { case (reports, period) =>
          reports.read(reads, group.partitions).foreach { case (e, rows) => period.add(e, rows) }
        }
      }
  }

  def shuffled(batch: Long, bytes: ShuffleBytes, nowMs: Long): Unit = {
    settle(nowMs)
    target(batch).foreach { case (_, period) => period.add(bytes) }
  }

  /** The batch is committed. */
  def ended(batch: Long, inputRows: Long, durationMs: Long, nowMs: Long): Unit = {
    target(batch)
    pending.get(batch).foreach { b =>
      b.end = Some(BatchEnd(inputRows, durationMs, nowMs))
      b.counts.addInput(inputRows)
    }
    pending.keys.toSeq.filter(_ < batch).foreach(close)
    settle(nowMs)
  }

  /** Closes the batches that are over long enough. */
  def settle(nowMs: Long): Unit =
    pending.collect { case (n, b) if b.end.exists(_.atMs + history.settleMs <= nowMs) => n }
      .toSeq.foreach(close)

  def executorLost(executor: String): Unit =
    placed.foreach { case (partition, e) => if (e == executor) placed.remove(partition, e) }

  /** Executor on which each group's partition was last read. */
  def placement: Map[(Long, Int), String] = placed.toMap

  def batches: Seq[BatchStatus] = statuses
  def lastBatch: Long = lastClosed
  def version: Long = versions.last._2

  /** Closed periods, oldest first, then the open one. */
  def periods: Seq[Period] = (closedPeriods ++ openPeriod).map(_.toProto)

  /** Fingerprints of the keys of a group, the heaviest first. */
  def heaviest(group: Long): Seq[Long] = {
    val all = new KeySummary
    (closedPeriods ++ openPeriod ++ pending.values.map(_.counts)).foreach(_.addKeys(group, all))
    all.toProto.toSeq.flatMap(_.getFingerprintsList.asScala.map(_.longValue))
  }

  // What a report of the batch goes into; none where the batch is forgotten.
  private def target(batch: Long): Option[(BatchReports, PeriodCounts)] =
    if (batch > lastClosed) {
      if (!pending.contains(batch)) {
        pending(batch) = new PendingBatch(new PeriodCounts(versionAt(batch), batch, query.groups))
        pending.keys.toSeq.dropRight(RunStatistics.MostPending).foreach(close)
      }
      pending.get(batch).map(b => b.reports -> b.counts)
    } else {
      for {
        reports <- late.get(batch)
        period <- (closedPeriods ++ openPeriod).reverse.find(_.version == versionAt(batch))
      } yield reports -> period
    }

  private def versionAt(batch: Long): Long =
    versions.reverse.find(_._1 <= batch).getOrElse(versions.head)._2

  private def close(batch: Long): Unit = pending.remove(batch).foreach { b =>
    statuses = (statuses :+ b.status).takeRight(RunStatistics.MostBatches)
    lastClosed = math.max(lastClosed, batch)
    late(batch) = b.reports
    if (late.size > RunStatistics.MostLate) late.remove(late.head._1)
    if (openPeriod.exists(_.version != b.counts.version)) closePeriod()
    openPeriod match {
      case Some(period) => period.merge(b.counts)
      case None => openPeriod = Some(b.counts)
    }
    if (openPeriod.exists(_.rows >= history.periodRows)) closePeriod()
  }

  private def closePeriod(): Unit = {
    closedPeriods = (closedPeriods ++ openPeriod).takeRight(history.periods)
    openPeriod = None
  }
}

private[count] object RunStatistics {
  val MostPending: Int = 4
  val MostLate: Int = 8
  val MostBatches: Int = 256
}

private[count] final case class BatchEnd(inputRows: Long, durationMs: Long, atMs: Long)

/** A batch that is not closed yet. */
private[count] final class PendingBatch(val counts: PeriodCounts) {
  val reports: BatchReports = new BatchReports
  var end: Option[BatchEnd] = None

  def status: BatchStatus = {
    val locality = counts.localRows
    val bytes = counts.shuffled
    BatchStatus.newBuilder().setBatch(counts.firstBatch).setTableVersion(counts.version)
      .setInputRows(end.fold(0L)(_.inputRows)).setDurationMs(end.fold(0L)(_.durationMs))
      .setEdgeRows(locality.rows).setLocalRows(locality.local)
      .setLocalBytes(bytes.local).setRemoteBytes(bytes.remote)
      .addAllImbalance(counts.imbalances.map(Double.box).asJava)
      .addAllPartitionRows(counts.partitions.asJava)
      .build()
  }
}
