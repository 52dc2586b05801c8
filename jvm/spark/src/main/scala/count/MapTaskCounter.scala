package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.keyroute.route.RouteObserver

import io.keyroute.core.table.GroupTable
import io.keyroute.proto.v1.MapTaskCounts

/** Counts the rows that one map task sends through one exchange: for each partition and each slot
  * exactly.
  *
  * @param exchange
  *   None where only the metrics of the exchange are wanted
  */
final class MapTaskCounter(
    table: GroupTable,
    exchange: Option[CountedExchange],
    mapPartition: Int)
    extends RouteObserver {
  private val partitions = new Array[Long](table.shape.partitions)
  private val slots = if (exchange.isDefined) new Array[Long](table.shape.slots) else null
  private var byEntryRows = 0L

  override def routed(
      hash: Int,
      fingerprint: Long,
      partition: Int,
      byEntry: Boolean,
      upstream: Long): Unit = {
    partitions(partition) += 1
    if (byEntry) byEntryRows += 1
    if (slots != null) slots(table.slotOf(hash)) += 1
  }

  def rowsByEntry: Long = byEntryRows
  def rowsBySlot: Long = partitions.sum - byEntryRows

  /** Sends what was counted to the driver. Only when the task has succeeded. */
  def report(): Unit = exchange.foreach(e => TaskReports.send(counts(e)))

  private def counts(e: CountedExchange): MapTaskCounts = {
    val counts = MapTaskCounts.newBuilder()
      .setRunId(e.id.runId.toString)
      .setBatch(e.id.batch)
      .setGroup(e.id.group)
      .setExchange(e.id.number)
      .setMapPartition(mapPartition)
      .setTableVersion(e.version)
      .setExecutor(TaskReports.executorId)
      .setExplicitRows(byEntryRows)
      .setUpstreamGroup(e.upstream.fold(-1L)(_.group))
      .setUpstreamKey(e.upstream.fold("")(_.how))
    partitions.foreach(counts.addPartitionRows)
    slots.indices.filter(slots(_) > 0).foreach { slot =>
      counts.addSlots(slot)
      counts.addSlotRows(slots(slot))
    }
    counts.build()
  }
}
