package org.apache.spark.sql.keyroute.count

import io.keyroute.core.table.GroupShape
import io.keyroute.proto.v1.{GroupStatistics, MapTaskCounts, PairSketch, PartitionRows}

/** Counts of one routing group, summed over map tasks. Not thread-safe.
  *
  * @param keepSources
  *   whether it is kept which source partitions keys come from
  * @param mostLabels
  *   keys that have a text for people
  */
private[count] final class GroupCounts(
    shape: GroupShape,
    keepSources: Boolean,
    mostLabels: Int = 0
) {
  private val slotRows = new Array[Long](shape.slots)
  private val partitionRows = new Array[Long](shape.partitions)
  private var explicitRows = 0L
  private val keys = new KeySummary
  private val labels = new LabelSummary(mostLabels)
  private val sources = new PairSummary
  private var runMs = Option.empty[Array[Long]]
  // Rows and bytes of each slot.
  private var state = Option.empty[(Array[Long], Array[Long])]

  /** Whether a report was made for a group of this shape. */
  def fits(counts: MapTaskCounts): Boolean =
    counts.getPartitionRowsCount == shape.partitions &&
      counts.getSlotsCount == counts.getSlotRowsCount &&
      (0 until counts.getSlotsCount).forall(i =>
        counts.getSlots(i) >= 0 &&
          counts.getSlots(i) < shape.slots
      ) &&
      counts.getKeys.getSlotsList.stream.allMatch(s => s >= 0 && s < shape.slots)

  def add(counts: MapTaskCounts, parsed: TaskSummaries): Unit = {
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
    parsed.keys.foreach(keys.add)
    labels.add(counts.getKeys)
    if (keepSources && counts.getReadsSource && counts.hasKeys)
      sources.add(GroupCounts.bySource(counts))
  }

  /** A task of the partition ran so long. */
  def addRun(partition: Int, ms: Long): Unit = {
    val sums = runMs.getOrElse(new Array[Long](shape.partitions))
    sums(partition) += ms
    runMs = Some(sums)
  }

  /** Rows and bytes that each slot holds now. */
  def setState(rows: Array[Long], bytes: Array[Long]): Unit = state = Some(rows -> bytes)

  /** S entries. */
  def rowsOfSlots: Array[Long] = slotRows

  def merge(other: GroupCounts): Unit = {
    partitionRows.indices.foreach(p => partitionRows(p) += other.partitionRows(p))
    slotRows.indices.foreach(s => slotRows(s) += other.slotRows(s))
    explicitRows += other.explicitRows
    keys.merge(other.keys)
    labels.merge(other.labels)
    sources.merge(other.sources)
    for (sums <- other.runMs; p <- sums.indices) addRun(p, sums(p))
    state = other.state.orElse(state)
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
    keys.toProto.map(labels.onto).foreach(builder.setKeys)
    sources.toProto.foreach(builder.setSources)
    for (sums <- runMs; ms <- sums) builder.addPartitionMs(ms)
    for ((rows, bytes) <- state; slot <- rows.indices)
      builder.addSlotStateRows(rows(slot)).addSlotStateBytes(bytes(slot))
    builder.build()
  }
}

private object GroupCounts {

  /** The keys of a map task as pairs (its partition, key). */
  private def bySource(counts: MapTaskCounts): PairSketch = {
    val keys = counts.getKeys
    val builder = PairSketch.newBuilder().setRows(keys.getRows).setCapacity(keys.getCapacity)
      .addAllDownstream(keys.getFingerprintsList).addAllCounts(keys.getCountsList)
      .addAllErrors(keys.getErrorsList).setFloor(keys.getFloor)
    (0 until keys.getFingerprintsCount).foreach { _ =>
      builder.addUpstream(counts.getMapPartition.toLong)
    }
    builder.build()
  }
}
