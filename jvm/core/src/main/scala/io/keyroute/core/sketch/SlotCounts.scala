package io.keyroute.core.sketch

import java.util.Arrays

import io.keyroute.proto.v1.MapTaskCounts

/** Exact rows of each of S slots. Not thread-safe. */
final class SlotCounts(val slots: Int) {
  private val counts = new Array[Long](slots)

  def add(slot: Int, rows: Long = 1L): Unit = counts(slot) += rows

  def rowsOf(slot: Int): Long = counts(slot)

  /** Rows of all slots. */
  def rows: Long = counts.sum

  def clear(): Unit = Arrays.fill(counts, 0L)

  /** S entries. A fresh array. */
  def toArray: Array[Long] = counts.clone()

  /** Adds other counts, which stay as they are.
    * @throws InvalidSketch if they are of another S */
  def merge(other: SlotCounts): Unit = {
    if (other.slots != slots) throw new InvalidSketch(s"${other.slots} slots cannot join $slots")
    var slot = 0
    while (slot < slots) {
      counts(slot) += other.counts(slot)
      slot += 1
    }
  }

  /** Adds the slots that have rows to the message, ascending. */
  def addTo(message: MapTaskCounts.Builder): Unit = {
    var slot = 0
    while (slot < slots) {
      if (counts(slot) != 0) message.addSlots(slot).addSlotRows(counts(slot))
      slot += 1
    }
  }

  /** Adds the slots of a message.
    * @throws InvalidSketch if they are not within S or do not match; then nothing is added */
  def addAll(message: MapTaskCounts): Unit = {
    val size = message.getSlotsCount
    if (size != message.getSlotRowsCount)
      throw new InvalidSketch(s"$size slots but rows for ${message.getSlotRowsCount}")
    (0 until size).foreach { i =>
      if (message.getSlots(i) < 0 || message.getSlots(i) >= slots)
        throw new InvalidSketch(s"slot ${Integer.toUnsignedString(message.getSlots(i))} of $slots")
    }
    (0 until size).foreach(i => counts(message.getSlots(i)) += message.getSlotRows(i))
  }
}
