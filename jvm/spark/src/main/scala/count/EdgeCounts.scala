package org.apache.spark.sql.keyroute.count

import io.keyroute.proto.v1.{EdgeStatistics, MapTaskCounts}

/** The way from one routing group to the next. */
private[count] final case class Edge(upstream: Long, downstream: Long)

/** Counts of one edge, summed over map tasks. Not thread-safe. */
private[count] final class EdgeCounts {
  private var locality = LocalRows.none
  private val pairs = new PairSummary
  private var upstreamKey = ""

  def add(counts: MapTaskCounts): Unit = {
    if (counts.hasPairs) pairs.add(counts.getPairs)
    if (counts.getUpstreamKey.nonEmpty) upstreamKey = counts.getUpstreamKey
  }

  def add(rows: LocalRows): Unit = locality += rows

  def merge(other: EdgeCounts): Unit = {
    locality += other.locality
    pairs.merge(other.pairs)
    if (other.upstreamKey.nonEmpty) upstreamKey = other.upstreamKey
  }

  def localRows: LocalRows = locality

  def toProto(edge: Edge): EdgeStatistics = {
    val builder = EdgeStatistics.newBuilder().setUpstreamGroup(edge.upstream)
      .setDownstreamGroup(edge.downstream).setUpstreamKey(upstreamKey)
      .setRows(locality.rows).setLocalRows(locality.local)
    pairs.toProto.foreach(builder.setPairs)
    builder.build()
  }
}
