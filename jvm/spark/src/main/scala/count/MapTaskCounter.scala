package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.keyroute.route.RouteObserver

import io.keyroute.core.table.GroupTable
import io.keyroute.proto.v1.MapTaskCounts

/** Counts the rows that one map task sends through one exchange: rows of each partition and slot
  * exactly, heavy keys and heavy pairs (upstream key, key) in bounded memory. Rows are counted as
  * they cross the exchange: above a partial aggregation, where there is one, a row stands for all
  * rows of its key in the task.
  *
  * @param exchange
  *   None where only the exchange's metrics are wanted
  * @param labels
  *   of keys, for people
  */
final class MapTaskCounter(
    table: GroupTable,
    exchange: Option[CountedExchange],
    mapPartition: Int,
    labels: Option[KeyLabels] = None
) extends RouteObserver {
  private val partitions = new Array[Long](table.shape.partitions)
  private val sketches = exchange.map(new TaskSketches(table, _, mapPartition, labels)).orNull
  private var byEntryRows = 0L

  override val wantsUpstreamHash: Boolean = sketches != null && sketches.countsSlotPairs

  override def wantsKeys: Boolean = sketches != null && sketches.takesNext

  override def routed(hash: Int, partition: Int, byEntry: Boolean): Unit = {
    partitions(partition) += 1
    if (byEntry) byEntryRows += 1
    if (sketches != null) sketches.pass(table.slotOf(hash))
  }

  override def routed(
      hash: Int,
      fingerprint: Long,
      partition: Int,
      byEntry: Boolean,
      fromKnown: Boolean,
      upstream: Long,
      upstreamHash: Int
  ): Unit = {
    partitions(partition) += 1
    if (byEntry) byEntryRows += 1
    if (sketches != null)
      sketches.take(table.slotOf(hash), fingerprint, fromKnown, upstream, upstreamHash)
  }

  def rowsByEntry: Long = byEntryRows
  def rowsBySlot: Long = partitions.sum - byEntryRows

  /** Sends what was counted to the driver. Only when the task has succeeded.
    * @param mapTasks
    *   of the exchange; the more there are, the fewer heavy counters each sends
    */
  def report(mapTasks: Int): Unit = counts(mapTasks).foreach(TaskReports.send)

  /** What was counted; None where nothing is wanted. */
  def counts(mapTasks: Int): Option[MapTaskCounts] = exchange.map { e =>
    val message = MapTaskCounts.newBuilder()
      .setRunId(e.id.runId.toString)
      .setBatch(e.id.batch)
      .setGroup(e.id.group)
      .setExchange(e.id.number)
      .setMapPartition(mapPartition)
      .setExecutor(TaskReports.executorId)
      .setExplicitRows(byEntryRows)
      .setUpstreamGroup(e.upstream.fold(-1L)(_.group))
      .setUpstreamKey(e.upstream.fold("")(_.how))
      .setReadsSource(e.readsSource)
    partitions.foreach(message.addPartitionRows)
    sketches.addTo(message, mapTasks)
    message.build()
  }
}
