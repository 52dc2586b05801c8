package io.keyroute.core.sketch

import java.lang.{Long => JLong}
import java.util.{List => JList}

/** What the messages of both sketches must obey. */
private[sketch] object SketchMessage {

  /** @throws InvalidSketch if the parallel arrays do not match, counts are not positive, an error is
    *                        not less than its count or is above the floor, or there are fewer rows
    *                        than the floor and the counts above it ask for ([[SpaceSaving]] says
    *                        why) */
  def check(
      size: Int,
      capacity: Int,
      rows: Long,
      floor: Long,
      counts: JList[JLong],
      errors: JList[JLong]
  ): Unit = {
    refuseIf(
      counts.size != size || errors.size != size,
      s"$size keys, ${counts.size} counts and ${errors.size} errors do not match"
    )
    refuseIf(
      capacity < 0 || capacity > SpaceSaving.MaxCapacity ||
        size > SketchSize.mostTold(math.max(capacity, 1)),
      s"$size keys in ${Integer.toUnsignedString(capacity)} counters"
    )
    refuseIf(
      rows < 0 || floor < 0 || floor > rows / math.max(capacity, 1),
      s"the floor $floor is too high for $rows rows"
    )
    var left = rows - floor * capacity
    var i = 0
    while (i < size) {
      val (count, error) = (counts.get(i).longValue, errors.get(i).longValue)
      refuseIf(
        count < 1 || count - floor > left,
        s"the counts exceed the $rows rows, or are not positive"
      )
      refuseIf(
        error < 0 || error >= count || error > floor,
        s"the error $error is not within the count $count and the floor $floor"
      )
      left -= math.max(count - floor, 0)
      i += 1
    }
  }

  private def refuseIf(wrong: Boolean, why: => String): Unit =
    if (wrong) throw new InvalidSketch(s"the sketch is damaged: $why")
}
