package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.keyroute.route.RouteObserver

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotCounts}
import io.keyroute.core.table.GroupTable
import io.keyroute.proto.v1.MapTaskCounts

/** Counts the rows that one map task sends through one exchange: rows of each partition and slot
  * exactly, heavy keys and heavy pairs (upstream key, key) in bounded memory. Rows are counted as
  * they cross the exchange: above a partial aggregation, where there is one, a row stands for all
  * rows of its key in the task.
  *
  * @param exchange
  *   None where only the exchange's metrics are wanted
  */
final class MapTaskCounter(
    table: GroupTable,
    exchange: Option[CountedExchange],
    mapPartition: Int
) extends RouteObserver {
  private val partitions = new Array[Long](table.shape.partitions)
  private val sketches = exchange.map(new MapTaskCounter.Sketches(table, _)).orNull
  private var byEntryRows = 0L

  override def routed(
      hash: Int,
      fingerprint: Long,
      partition: Int,
      byEntry: Boolean,
      upstream: Long
  ): Unit = {
    partitions(partition) += 1
    if (byEntry) byEntryRows += 1
    if (sketches != null) sketches.add(table.slotOf(hash), fingerprint, upstream)
  }

  def rowsByEntry: Long = byEntryRows
  def rowsBySlot: Long = partitions.sum - byEntryRows

  /** Sends what was counted to the driver. Only when the task has succeeded.
    * @param mostSent
    *   counters of each sketch; of more, the heaviest are sent
    */
  def report(mostSent: Int): Unit = counts(mostSent).foreach(TaskReports.send)

  /** What was counted; None where nothing is wanted. */
  def counts(mostSent: Int): Option[MapTaskCounts] = exchange.map { e =>
    val message = MapTaskCounts.newBuilder()
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
    partitions.foreach(message.addPartitionRows)
    sketches.addTo(message, mostSent)
    message.build()
  }
}

object MapTaskCounter {

  /** A group without routing columns has no keys to tell apart, only slots. */
  private final class Sketches(table: GroupTable, exchange: CountedExchange) {
    private val slots = new SlotCounts(table.shape.slots)
    private val keys =
      if (table.shape.routingOrdinals.isEmpty) null else new LongSpaceSaving(exchange.counters)
    private val pairs =
      if (keys == null || exchange.upstream.isEmpty) null
      else new PairSpaceSaving(exchange.counters)

    def add(slot: Int, fingerprint: Long, upstream: Long): Unit = {
      slots.add(slot)
      if (keys != null) keys.offer(fingerprint)
      if (pairs != null) pairs.offer(upstream, fingerprint)
    }

    def addTo(message: MapTaskCounts.Builder, most: Int): Unit = {
      slots.addTo(message)
      if (keys != null) message.setKeys(keys.heaviest(most))
      if (pairs != null) message.setPairs(pairs.heaviest(most))
    }
  }
}
