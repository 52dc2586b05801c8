package org.apache.spark.sql.keyroute.count

import scala.collection.concurrent.TrieMap
import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.{GroupShape, RoutingTables}
import io.keyroute.proto.v1.{BatchStatus, MapTaskCounts, Period, ReduceTaskReads}

/** Statistics of one run of a query. Reports gather by batch; a batch that is over is closed a
  * little later and joins the open period; periods are closed by their size and at a change of
  * tables. Memory is bounded by the settings, whatever is reported. Not thread-safe but for
  * `switched`, `version`, `placement` and `executorLost`; time comes in. */
private[count] final class RunStatistics(val query: RunningQuery, history: History) {
  import RunStatistics._

  private val pending = mutable.TreeMap.empty[Long, PendingBatch]
  private val late = mutable.TreeMap.empty[Long, BatchReports]
  // Read by the stream's thread, which must not wait for a merge.
  private val placed = TrieMap.empty[(Long, Int), String]
  // Of a closed period only the message is kept, but for the newest, which late reports still join.
  private var oldPeriods = Vector.empty[Period]
  private var closedPeriods = Vector.empty[PeriodCounts]
  private var openPeriod = Option.empty[PeriodCounts]
  private var lastVersion = query.inForce.version
  private val states =
    query.groups.filter(_.stableSlots).map(s => s.group -> new SlotState(s)).toMap
  private var statuses = Vector.empty[BatchStatus]
  private var lastClosed = -1L
  // The newest last; two are enough for the batches that are not closed yet. Written by the stream's
  // thread alone.
  @volatile private var versions = Vector(query.sinceBatch -> query.inForce.version)
  @volatile private var tables = Vector(query.inForce)

  def switched(batch: Long, version: Long, to: Option[RoutingTables]): Unit = {
    versions = (versions :+ (batch -> version)).takeRight(2)
    tables = (tables ++ to).takeRight(2)
  }

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
        if (reads.hasStateRows) states.get(group.group).foreach(_.report(
          reads.getBatch,
          reads.getPartition,
          TaskState(reads.getStateRows, reads.getStateBytes)
        ))
        target(reads.getBatch).foreach { case (reports, period) =>
          if (reads.hasRunMs && reports.firstRun(reads))
            period.addRun(group, reads.getPartition, reads.getRunMs)
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
  def periods: Seq[Period] = oldPeriods ++ (closedPeriods ++ openPeriod).map(_.toProto)

  /** Nobody plans for a query that has ended, and many may have. */
  def forgetOldPeriods(): Unit = oldPeriods = Vector.empty

  /** Fingerprints of the keys of a group, the heaviest first. */
  def heaviest(group: Long): Seq[Long] = {
    val all = new KeySummary
    for (p <- oldPeriods; g <- p.getGroupsList.asScala)
      if (g.getShape.getGroup == group && g.hasKeys) all.add(g.getKeys)
    (closedPeriods ++ openPeriod ++ pending.values.map(_.counts)).foreach(_.addKeys(group, all))
    all.toProto.toSeq.flatMap(_.getFingerprintsList.asScala.map(_.longValue))
  }

  // What a report of the batch goes into; none where the batch is forgotten.
  private def target(batch: Long): Option[(BatchReports, PeriodCounts)] =
    if (batch > lastClosed) {
      if (!pending.contains(batch)) {
        pending(batch) = newBatch(batch)
        pending.keys.toSeq.dropRight(MostPending).foreach(close)
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

  private def newBatch(batch: Long): PendingBatch =
    new PendingBatch(new PeriodCounts(versionAt(batch), batch, query.groups, history))

  private def close(batch: Long): Unit = pending.remove(batch).foreach { b =>
    query.groups.foreach(estimateState(b.counts, _))
    statuses = (statuses :+ b.status).takeRight(MostBatches)
    lastClosed = math.max(lastClosed, batch)
    late(batch) = b.reports
    if (late.size > MostLate) late.remove(late.head._1)
    if (b.counts.version != lastVersion) {
      closePeriod()
      if (history.resetOnSwitch) {
        oldPeriods = Vector.empty
        closedPeriods = Vector.empty
      }
    }
    lastVersion = b.counts.version
    openPeriod match {
      case Some(period) => period.merge(b.counts)
      case None => openPeriod = Some(b.counts)
    }
    if (openPeriod.exists(_.rows >= history.periodRows)) closePeriod()
  }

  private def closePeriod(): Unit = {
    val (old, recent) =
      (closedPeriods ++ openPeriod).splitAt(closedPeriods.size + openPeriod.size - MostRecent)
    closedPeriods = recent.takeRight(history.periods)
    oldPeriods = (oldPeriods ++ old.map(_.toProto)).takeRight(history.periods - closedPeriods.size)
    openPeriod = None
  }

  private def estimateState(counts: PeriodCounts, group: GroupShape): Unit =
    for {
      state <- states.get(group.group)
      known <- tables.find(_.version == counts.version)
    } {
      counts.rowsOfSlots(group.group).foreach(state.addRows)
      state.spread(known.tableFor(group))
        .foreach { case (rows, bytes) => counts.setState(group, rows, bytes) }
    }
}

private[count] object RunStatistics {
  val MostPending: Int = 4
  val MostLate: Int = 8
  val MostBatches: Int = 256
  val MostRecent: Int = 2
}
