package org.apache.spark.sql.keyroute.count

import io.keyroute.core.table.GroupShape
import io.keyroute.proto.v1.{GroupStatistics, MapTaskCounts, PartitionRows}

/** Counts of one routing group, summed over map tasks. Not thread-safe. */
private[count] final class GroupCounts(shape: GroupShape) {
  private val slotRows = new Array[Long](shape.slots)
  private val partitionRows = new Array[Long](shape.partitions)
  private var explicitRows = 0L
  private val keys = new KeySummary

  /** Whether a report was made for a group of this shape. */
  def fits(counts: MapTaskCounts): Boolean =
    counts.getPartitionRowsCount == shape.partitions &&
      counts.getSlotsCount == counts.getSlotRowsCount &&
      (0 until counts.getSlotsCount).forall(i =>
        counts.getSlots(i) >= 0 &&
          counts.getSlots(i) < shape.slots
      )

  def add(counts: MapTaskCounts): Unit = {
    var p = 0
    while (p < partitionRows.length) {
      partitionRows(p) += counts.getPartitionRows(p)
      p += 1
    }
    var i = 0
    while (i < counts.getSlotsCount) {
      slotRows(counts.getSlots(i)) += counts.getSlotRows(i)
      i += 1
    }
    explicitRows += counts.getExplicitRows
    if (counts.hasKeys) keys.add(counts.getKeys)
  }

  def merge(other: GroupCounts): Unit = {
    partitionRows.indices.foreach(p => partitionRows(p) += other.partitionRows(p))
    slotRows.indices.foreach(s => slotRows(s) += other.slotRows(s))
    explicitRows += other.explicitRows
    keys.merge(other.keys)
  }

  /** Merges the keys into others. */
  def addKeys(into: KeySummary): Unit = into.merge(keys)

  /** max / mean of the partitions' rows; 1 where there are none. */
  def imbalance: Double = {
    val rows = partitionRows.sum
    if (rows == 0) 1.0 else partitionRows.max.toDouble * partitionRows.length / rows
  }

  /** Rows that each partition received. */
  def partitions: PartitionRows = {
    val builder = PartitionRows.newBuilder().setGroup(shape.group)
    partitionRows.foreach(builder.addRows)
    builder.build()
  }

  def toProto: GroupStatistics = {
    val builder = GroupStatistics.newBuilder().setShape(shape.toProto).setRows(partitionRows.sum)
      .setExplicitRows(explicitRows)
    slotRows.foreach(builder.addSlotRows)
    partitionRows.foreach(builder.addPartitionRows)
    keys.toProto.foreach(builder.setKeys)
    builder.build()
  }
}
