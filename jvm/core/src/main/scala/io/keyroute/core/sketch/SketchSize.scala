package io.keyroute.core.sketch

/** How large the table of a [[SpaceSaving]] sketch is. */
private[sketch] object SketchSize {

  /** Bytes of a group of places: a word of tags, and of each place count and error. */
  val GroupBytes: Int = 8 + Places.Width * 8

  /** The most keys that a sketch of m counters tells. */
  def mostTold(capacity: Int): Int = mostAbove(mostGroups(capacity))

  /** Groups of a full sketch: a third more places than counters, rounded up. */
  def mostGroups(capacity: Int): Int =
    ((capacity * 4L + 3 * Places.Width - 1) / (3 * Places.Width)).toInt

  /** How many of so many groups' places may hold keys above the floor: seven eighths of them, so
    * that looks stay short, and one is always free. */
  def mostAbove(groups: Int): Int =
    groups * Places.Width - (groups * Places.Width + 7) / 8

  /** Groups that hold so many keys. */
  def groupsFor(keys: Int): Int =
    math.max(1L, (keys * 8L + 7 * Places.Width - 1) / (7 * Places.Width)).toInt

  /** How many counters fit the memory, at least one. */
  def capacityFor(bytes: Long, groupBytes: Int): Int =
    math.max(
      1L,
      math.min(bytes / groupBytes * Places.Width * 3 / 4, SpaceSaving.MaxCapacity.toLong)
    ).toInt
}
