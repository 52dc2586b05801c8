package org.apache.spark.sql.keyroute.count

import io.keyroute.core.table.{GroupShape, GroupTable}

/** State of a group's slots, estimated: what each partition reports, spread over the slots that it owns.
  * A slot weighs its even share of the partition's state rows and the rows seen of it so far: so a few
  * rows after a restart do not take all the state of before, and many rows outweigh that share. Where
  * keys have entries of their own, their state is spread over the slots of the partition that they are
  * in. Not thread-safe.
  */
private[count] final class SlotState(shape: GroupShape) {
  private val seen = new Array[Long](shape.slots)
  private val rows, bytes = new Array[Long](shape.partitions)
  private val batches = Array.fill(shape.partitions)(-1L)

  /** S entries. */
  def addRows(slotRows: Array[Long]): Unit = seen.indices.foreach(s => seen(s) += slotRows(s))

  /** What the partition held at the end of the batch. */
  def report(batch: Long, partition: Int, state: TaskState): Unit =
    if (batch >= batches(partition)) {
      batches(partition) = batch
      rows(partition) = state.rows
      bytes(partition) = state.bytes
    }

  /** Rows and bytes of each slot; none until every partition has reported. Their sums are those of the
    * partitions.
    *
    * @param table
    *   by which the state lies
    */
  def spread(table: GroupTable): Option[(Array[Long], Array[Long])] =
    Option.when(batches.forall(_ >= 0)) {
      val owned = (0 until shape.slots).groupBy(table.ownerOf)
      val (slotRows, slotBytes) = (new Array[Long](shape.slots), new Array[Long](shape.slots))
      owned.foreach { case (partition, slots) =>
        val total = rows(partition) + slots.map(seen(_)).sum.toDouble
        val even = rows(partition).toDouble / slots.size
        val weight: Int => Double =
          if (total > 0) s => (even + seen(s)) / total else _ => 1.0 / slots.size
        divide(rows(partition), slots, weight, slotRows)
        divide(bytes(partition), slots, weight, slotBytes)
      }
      (slotRows, slotBytes)
    }

  // Rounds the running sum, so that the last slot gets what is left and nothing is lost.
  private def divide(
      whole: Long,
      slots: Seq[Int],
      weight: Int => Double,
      into: Array[Long]
  ): Unit = {
    var (sum, given) = (0.0, 0L)
    slots.foreach { slot =>
      sum += weight(slot)
      val upTo = if (slot == slots.last) whole else math.min(whole, math.round(whole * sum))
      into(slot) = upTo - given
      given = upTo
    }
  }
}
