package org.apache.spark.sql.keyroute.count

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.keyroute.core.sketch.SlotPairCounts
import io.keyroute.core.table.GroupShape
import io.keyroute.proto.v1.{MapTaskCounts, PartitionRows, Period}

/** Counts of consecutive batches under one version of the tables; of one batch to begin with. Not
  * thread-safe.
  *
  * @param shapes
  *   of the query's groups; a report for another group is dropped
  */
private[count] final class PeriodCounts(
    val version: Long,
    val firstBatch: Long,
    shapes: Seq[GroupShape],
    history: History
) {
  private val groups = mutable.TreeMap.empty[Long, GroupCounts]
  private val edges = mutable.HashMap.empty[Edge, EdgeCounts]
  private var lastBatch = firstBatch
  private var inputRows = 0L
  private var bytes = ShuffleBytes.none
  // A closed period is asked for again and again, and rarely changes.
  private var message = Option.empty[Period]

  def rows: Long = inputRows

  /** Takes in what a map task counted; false where it does not fit the query's groups.
    * @throws io.keyroute.core.sketch.InvalidSketch
    *   if a sketch contradicts itself; then nothing is taken in
    */
  def add(counts: MapTaskCounts): Boolean =
    shapes.find(_.group == counts.getGroup).map(group).filter(_.fits(counts)) match {
      case None => false
      case Some(group) =>
        val parsed = TaskSummaries.of(counts)
        val way = PeriodCounts.edgeOf(counts).filter(known)
        way.filter(_ => counts.hasSlotPairs).foreach { e =>
          SlotPairCounts.check(
            counts.getSlotPairs,
            shape(e.upstream).slots,
            shape(e.downstream).slots
          )
        }
        message = None
        group.add(counts, parsed)
        way.foreach(edge(_).add(counts, parsed))
        true
    }

  /** A task that read a partition of the group ran so long. */
  def addRun(of: GroupShape, partition: Int, ms: Long): Unit = {
    message = None
    group(of).addRun(partition, ms)
  }

  /** Rows and bytes that each slot of the group held in the end. */
  def setState(of: GroupShape, rows: Array[Long], bytes: Array[Long]): Unit = {
    message = None
    group(of).setState(rows, bytes)
  }

  /** Rows of each slot; none where the group had no rows. */
  def rowsOfSlots(group: Long): Option[Array[Long]] = groups.get(group).map(_.rowsOfSlots)

  /** An edge of a group that is not the query's is left aside. */
  def add(of: Edge, rows: LocalRows): Unit = if (rows.rows > 0 && known(of)) {
    message = None
    edge(of).add(rows)
  }

  def add(shuffled: ShuffleBytes): Unit = {
    message = None
    bytes += shuffled
  }

  def addInput(rows: Long): Unit = {
    message = None
    inputRows += rows
  }

  /** Takes in a later batch. */
  def merge(other: PeriodCounts): Unit = {
    message = None
    lastBatch = math.max(lastBatch, other.lastBatch)
    inputRows += other.inputRows
    bytes += other.bytes
    shapes.foreach(s => other.groups.get(s.group).foreach(group(s).merge))
    other.edges.foreach { case (of, counts) => edge(of).merge(counts) }
  }

  /** Over all edges. */
  def localRows: LocalRows = edges.values.map(_.localRows).foldLeft(LocalRows.none)(_ + _)

  def shuffled: ShuffleBytes = bytes

  /** Of each group that rows were counted of. */
  def partitions: Seq[PartitionRows] =
    shapes.flatMap(s => groups.get(s.group)).map(_.partitions)

  /** Of each group, in the order of the query's groups. */
  def imbalances: Seq[Double] = shapes.map(s => groups.get(s.group).fold(1.0)(_.imbalance))

  /** Merges the keys of one group into others. */
  def addKeys(of: Long, into: KeySummary): Unit = groups.get(of).foreach(_.addKeys(into))

  def toProto: Period = {
    val made = message.getOrElse(build())
    message = Some(made)
    made
  }

  private def build(): Period = Period.newBuilder().setFirstBatch(firstBatch)
    .setLastBatch(lastBatch).setTableVersion(version).setRows(inputRows)
    .setLocalBytes(bytes.local).setRemoteBytes(bytes.remote)
    .addAllGroups(groups.values.map(_.toProto).asJava)
    .addAllEdges(edges.toSeq.sortBy { case (e, _) => (e.upstream, e.downstream) }
      .map { case (of, counts) => counts.toProto(of) }.asJava)
    .build()

  private def group(shape: GroupShape): GroupCounts =
    groups.getOrElseUpdate(
      shape.group,
      new GroupCounts(shape, history.sources, history.labels)
    )

  private def edge(of: Edge): EdgeCounts = edges.getOrElseUpdate(
    of,
    new EdgeCounts(shape(of.upstream), shape(of.downstream), history.slotPairs)
  )

  private def shape(group: Long): GroupShape = shapes.find(_.group == group).get

  private def known(of: Edge): Boolean =
    Seq(of.upstream, of.downstream).forall(group => shapes.exists(_.group == group))
}

private[count] object PeriodCounts {

  /** The edge that an exchange belongs to, where its rows come from another group. */
  def edgeOf(counts: MapTaskCounts): Option[Edge] =
    Option.when(counts.getUpstreamGroup >= 0)(Edge(counts.getUpstreamGroup, counts.getGroup))
}

/** Bytes that tasks fetched of shuffles: from their own executor or host, and over the network. */
final case class ShuffleBytes(local: Long, remote: Long) {
  def +(other: ShuffleBytes): ShuffleBytes =
    ShuffleBytes(local + other.local, remote + other.remote)
}

object ShuffleBytes {
  val none: ShuffleBytes = ShuffleBytes(0, 0)
}
