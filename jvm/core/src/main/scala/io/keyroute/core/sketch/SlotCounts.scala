package io.keyroute.core.sketch

import io.keyroute.proto.v1.MapTaskCounts

/** Exact rows of each of S slots. Not thread-safe. */
final class SlotCounts(slots: Int) {
  private val counts = new Array[Long](slots)

  def add(slot: Int): Unit = counts(slot) += 1

  /** Adds the slots that have rows to the message, ascending. */
  def addTo(message: MapTaskCounts.Builder): Unit = {
    var slot = 0
    while (slot < slots) {
      if (counts(slot) != 0) message.addSlots(slot).addSlotRows(counts(slot))
      slot += 1
    }
  }
}
