package io.keyroute.core.sketch

import java.lang.{Long => JLong}
import java.util.{List => JList}

/** What the messages of both sketches must obey. */
private[sketch] object SketchMessage {

  def capacityFor(bytes: Long, counterBytes: Int): Int =
    math.max(1L, math.min(bytes / counterBytes, SpaceSaving.MaxCapacity.toLong)).toInt

  /** @throws InvalidSketch if the parallel arrays do not match, counts are not descending and
    *                        positive, an error exceeds its count or is in a sketch that is not full,
    *                        or the counts exceed the rows */
  def check(
      size: Int,
      capacity: Int,
      rows: Long,
      counts: JList[JLong],
      errors: JList[JLong]
  ): Unit = {
    refuseIf(
      counts.size != size || errors.size != size,
      s"$size keys, ${counts.size} counts and ${errors.size} errors do not match"
    )
    refuseIf(
      capacity < 0 || capacity > SpaceSaving.MaxCapacity || size > capacity,
      s"$size keys in ${Integer.toUnsignedString(capacity)} counters"
    )
    var left = rows
    var i = 0
    while (i < size) {
      val (count, error) = (counts.get(i).longValue, errors.get(i).longValue)
      refuseIf(count < 1 || count > left, s"the counts exceed the $rows rows, or are not positive")
      refuseIf(i > 0 && count > counts.get(i - 1), "the counts are not descending")
      refuseIf(error < 0 || error > count, s"the error $error is not within the count $count")
      refuseIf(error > 0 && size < capacity, "it has errors, though it is not full")
      left -= count
      i += 1
    }
  }

  private def refuseIf(wrong: Boolean, why: => String): Unit =
    if (wrong) throw new InvalidSketch(s"the sketch is damaged: $why")
}
