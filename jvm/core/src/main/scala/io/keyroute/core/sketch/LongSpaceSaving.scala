package io.keyroute.core.sketch

import io.keyroute.proto.v1.KeySketch

/** The count of a key: its true count lies in [count - error, count]. */
final case class KeyCount(key: Long, count: Long, error: Long, slot: Int = LongSpaceSaving.NoSlot)

/** [[SpaceSaving]] over keys of 64 bits, as fingerprints are.
  * @param maxCounters m
  * @throws InvalidSketch if it is not in [1, [[SpaceSaving.MaxCapacity]]] */
final class LongSpaceSaving(maxCounters: Int) extends SpaceSaving[LongSpaceSaving](maxCounters) {

  import LongSpaceSaving.NoSlot

  private var keys = new Array[Long](Places.Width)
  private var slots = new Array[Int](Places.Width)

  /** Counts a key.
    * @param weight rows it came with; positive
    * @param slot of the key, always the same one; NoSlot where it has none, or more than one */
  def offer(key: Long, weight: Long = 1L, slot: Int = NoSlot): Unit = {
    val hash = KeyHash.of(key)
    val place = find(key, hash)
    if (place >= 0) count(place, weight) else setKey(admit(hash, weight), key, slot)
  }

  /** The keys that are told, heaviest first. */
  def entries: IndexedSeq[KeyCount] =
    heaviestFirst.iterator.map(p => KeyCount(keys(p), counts(p), errors(p), slots(p))).toVector

  /** The message, deterministic, without labels. It has slots if it knows that of each key. */
  def toProto: KeySketch = whole(heaviestFirst)

  /** The message in no order, and with the heaviest keys only where `most` is less than the capacity
    * and there are more. Each then has the rows that are surely its own, so that no error remains;
    * what is left out is only in the rows. */
  def heaviest(most: Int): KeySketch =
    if (fits(most)) whole(told)
    else {
      val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity)
      val kept = surest(most)
      kept.foreach(p => builder.addFingerprints(keys(p)).addCounts(sure(p)).addErrors(0))
      withSlots(builder, kept)
    }

  private def whole(told: Array[Int]): KeySketch = {
    val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity).setFloor(floor)
    told.foreach { p =>
      builder.addFingerprints(keys(p)).addCounts(counts(p)).addErrors(errors(p))
    }
    withSlots(builder, told)
  }

  private def withSlots(builder: KeySketch.Builder, told: Array[Int]): KeySketch = {
    if (told.forall(slots(_) != NoSlot)) told.foreach(p => builder.addSlots(slots(p)))
    builder.build()
  }

  private def find(key: Long, hash: Long): Int = {
    val home = places.home(hash)
    var group = home
    var place = at(group, key, hash)
    while (place < 0 && places.passed(group) && places.next(group) != home) {
      group = places.next(group)
      place = at(group, key, hash)
    }
    place
  }

  /** The place of a key in a group, or -1. */
  private def at(group: Int, key: Long, hash: Long): Int = {
    var mask = places.matches(group, hash)
    while (mask != 0 && keys(Places.at(group, mask)) != key) mask &= mask - 1
    if (mask == 0) -1 else Places.at(group, mask)
  }

  private def setKey(place: Int, key: Long, slot: Int): Unit = {
    keys(place) = key
    slots(place) = slot
  }

  private[sketch] def keyBefore(left: Int, right: Int): Boolean = keys(left) < keys(right)

  private[sketch] def hashAt(place: Int): Long = KeyHash.of(keys(place))

  private[sketch] def placeLike(other: LongSpaceSaving, place: Int): Int =
    find(other.keys(place), other.hashAt(place))

  private[sketch] def offerLike(other: LongSpaceSaving, place: Int): Unit =
    offer(other.keys(place), other.counts(place), other.slots(place))

  private[sketch] def setLike(place: Int, other: LongSpaceSaving, from: Int): Unit =
    setKey(place, other.keys(from), other.slots(from))

  private[sketch] def moveKeys(from: Array[Int], to: Array[Int], length: Int): Unit = {
    val (oldKeys, oldSlots) = (keys, slots)
    keys = new Array[Long](length)
    slots = new Array[Int](length)
    from.indices.foreach(i => setKey(to(i), oldKeys(from(i)), oldSlots(from(i))))
  }

  private[sketch] def self: LongSpaceSaving = this
}

object LongSpaceSaving {

  private val GroupBytes = SketchSize.GroupBytes + Places.Width * 12

  /** The slot of a key that has none, or more than one. */
  val NoSlot: Int = -1

  /** How many counters fit the memory, at least one. */
  def capacityFor(bytes: Long): Int = SketchSize.capacityFor(bytes, GroupBytes)

  /** Reads a sketch. Labels are left aside.
    * @throws InvalidSketch if the message contradicts itself */
  def fromProto(proto: KeySketch): LongSpaceSaving = {
    val size = proto.getFingerprintsCount
    SketchMessage.check(
      size,
      proto.getCapacity,
      proto.getRows,
      proto.getFloor,
      proto.getCountsList,
      proto.getErrorsList
    )
    checkSlots(size, proto)
    val sketch = new LongSpaceSaving(math.max(proto.getCapacity, 1))
    sketch.restore(proto.getRows, proto.getFloor, size)
    for (i <- 0 until size) {
      val key = proto.getFingerprints(i)
      val hash = KeyHash.of(key)
      if (sketch.find(key, hash) >= 0) throw new InvalidSketch(s"the sketch counts key $key twice")
      val slot = if (proto.getSlotsCount == 0) NoSlot else proto.getSlots(i)
      sketch.setKey(sketch.put(hash, proto.getCounts(i), proto.getErrors(i)), key, slot)
    }
    sketch
  }

  private def checkSlots(size: Int, proto: KeySketch): Unit = {
    val slots = proto.getSlotsList
    if (!slots.isEmpty && (slots.size != size || slots.stream.anyMatch(_ < 0)))
      throw new InvalidSketch(s"the sketch is damaged: $size keys with ${slots.size} slots")
  }
}
