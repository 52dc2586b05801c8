package org.apache.spark.sql.keyroute.count

import scala.util.hashing.MurmurHash3

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotCounts, SlotPairCounts}
import io.keyroute.core.table.GroupTable
import io.keyroute.proto.v1.MapTaskCounts

/** What one map task counts of keys and slots. Rows of slots are exact; of keys, pairs and the matrix
  * of slots every k-th row is taken, for k rows. k is what is set for the first `sampleAfter` rows that
  * are taken, then twice as much, and twice as much again whenever half as many more were: a task of
  * many rows would learn little from taking them all, and pay for it. A group without routing columns
  * has no keys to tell apart, only slots. */
private[count] final class TaskSketches(
    table: GroupTable,
    exchange: CountedExchange,
    mapPartition: Int,
    labels: Option[KeyLabels] = None
) {
  private val limits = exchange.limits
  private val stable = table.shape.stableSlots
  private var every = limits.sample
  // From 0 on it counts down, and never comes to 0 again.
  private var untilSparser = limits.sampleAfter
  // Tasks begin at different rows, or a stream that repeats itself would always show the same ones.
  private var untilTaken = 1 + TaskSketches.phase(exchange.id, mapPartition, every)
  private val slots = new SlotCounts(table.shape.slots)
  private val keys =
    if (table.shape.routingOrdinals.isEmpty) null else new LongSpaceSaving(limits.counters)
  private val pairs =
    if (keys == null || exchange.upstream.isEmpty) null else new PairSpaceSaving(limits.counters)
  private val upstreamSlots =
    if (stable && limits.slotPairs > 0) exchange.upstream.flatMap(_.slots).getOrElse(0) else 0
  private val slotPairs = if (upstreamSlots > 0) new SlotPairCounts(limits.slotPairs) else null
  // Rows whose upstream key is not known.
  private var unknown = 0L

  def countsSlotPairs: Boolean = slotPairs != null

  /** Whether the next row is taken: [[take]] must be told of it, or else [[pass]]. */
  def takesNext: Boolean = untilTaken == 1

  def pass(slot: Int): Unit = {
    slots.add(slot)
    untilTaken -= 1
  }

  def take(
      slot: Int,
      fingerprint: Long,
      fromKnown: Boolean,
      upstream: Long,
      upstreamHash: Int
  ): Unit = {
    slots.add(slot)
    val weight = every.toLong
    if (keys != null)
      keys.offer(fingerprint, weight, if (stable) slot else LongSpaceSaving.NoSlot)
    if (!fromKnown) unknown += weight
    else {
      if (pairs != null) pairs.offer(upstream, fingerprint, weight)
      if (slotPairs != null)
        slotPairs.add(Math.floorMod(upstreamHash, upstreamSlots), slot, weight)
    }
    untilTaken = every
    untilSparser -= 1
    if (untilSparser == 0) {
      untilSparser = math.max(limits.sampleAfter / 2, 1)
      every = math.min(every, 1 << 29) * 2
      // As at the beginning: 1 to k, or the first rows of each k would never be taken.
      untilTaken = 1 + TaskSketches.phase(exchange.id, mapPartition, every)
    }
  }

  def addTo(message: MapTaskCounts.Builder, mapTasks: Int): Unit = {
    val most = limits.countersSent(mapTasks)
    slots.addTo(message)
    if (keys != null) {
      val heaviest = keys.heaviest(most)
      message.setKeys(labels.fold(heaviest)(_.onto(heaviest)))
    }
    if (pairs != null) message.setPairs(pairs.heaviest(most))
    if (slotPairs != null) {
      val cells = slotPairs.heaviest(limits.slotPairsSent(mapTasks))
      message.setSlotPairs(cells.toBuilder.setLeftOut(cells.getLeftOut + unknown))
    }
  }
}

private[count] object TaskSketches {

  /** Rows that a task passes over before the first that it takes, in [0, every). Mixed, so that it goes
    * through all of them whatever `every` is, from task to task as from batch to batch. */
  def phase(id: ExchangeId, mapPartition: Int, every: Int): Int = Math.floorMod(
    MurmurHash3.orderedHash(Seq(id.batch, id.group, id.number.toLong, mapPartition.toLong)),
    every
  )
}
