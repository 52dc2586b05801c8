package org.apache.spark.sql.keyroute.count

import io.keyroute.core.sketch.SlotPairCounts
import io.keyroute.core.table.GroupShape
import io.keyroute.proto.v1.{EdgeStatistics, MapTaskCounts}

/** The way from one routing group to the next. */
private[count] final case class Edge(upstream: Long, downstream: Long)

/** Counts of one edge, summed over map tasks. Not thread-safe.
  *
  * @param from, to
  *   the groups
  * @param cells
  *   of the matrix of slots, at most
  */
private[count] final class EdgeCounts(from: GroupShape, to: GroupShape, cells: Int) {
  private var locality = LocalRows.none
  private val pairs = new PairSummary
  private var upstreamKey = ""
  private var slotPairs = Option.empty[SlotPairCounts]

  def add(counts: MapTaskCounts, parsed: TaskSummaries): Unit = {
    parsed.pairs.foreach(pairs.add)
    if (counts.hasSlotPairs && cells > 0)
      matrix.addAll(counts.getSlotPairs, from.slots, to.slots)
    if (counts.getUpstreamKey.nonEmpty) upstreamKey = counts.getUpstreamKey
  }

  def add(rows: LocalRows): Unit = locality += rows

  def merge(other: EdgeCounts): Unit = {
    locality += other.locality
    pairs.merge(other.pairs)
    other.slotPairs.foreach(matrix.merge)
    if (other.upstreamKey.nonEmpty) upstreamKey = other.upstreamKey
  }

  def localRows: LocalRows = locality

  def toProto(edge: Edge): EdgeStatistics = {
    val builder = EdgeStatistics.newBuilder().setUpstreamGroup(edge.upstream)
      .setDownstreamGroup(edge.downstream).setUpstreamKey(upstreamKey)
      .setRows(locality.rows).setLocalRows(locality.local)
    pairs.toProto.foreach(builder.setPairs)
    slotPairs.foreach(m => builder.setSlotPairs(m.toProto))
    builder.build()
  }

  private def matrix: SlotPairCounts = {
    val counts = slotPairs.getOrElse(new SlotPairCounts(cells))
    slotPairs = Some(counts)
    counts
  }
}
