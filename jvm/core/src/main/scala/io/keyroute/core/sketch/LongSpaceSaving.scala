package io.keyroute.core.sketch

import java.util.Arrays

import io.keyroute.proto.v1.KeySketch

/** The count of a key: its true count lies in [count - error, count]. */
final case class KeyCount(key: Long, count: Long, error: Long, slot: Int = LongSpaceSaving.NoSlot)

/** [[SpaceSaving]] over keys of 64 bits, as fingerprints are.
  * @param maxCounters m
  * @throws InvalidSketch if it is not in [1, [[SpaceSaving.MaxCapacity]]] */
final class LongSpaceSaving(maxCounters: Int) extends SpaceSaving[LongSpaceSaving](maxCounters) {

  import LongSpaceSaving.NoSlot

  private var keys = new Array[Long](math.min(maxCounters, 8))
  private var slots = new Array[Int](keys.length)

  /** Counts a key.
    * @param weight rows it came with; positive
    * @param slot of the key, always the same one; NoSlot where it has none, or more than one */
  def offer(key: Long, weight: Long = 1L, slot: Int = NoSlot): Unit = {
    if (weight < 1) throw new InvalidSketch(s"the weight $weight is not positive")
    val hash = KeyHash.of(key)
    val counter = find(key, hash)
    if (counter >= 0) count(counter, weight) else setKey(admit(hash, weight), key, slot)
  }

  /** All counted keys, heaviest first. */
  def entries: IndexedSeq[KeyCount] =
    heaviestFirst.iterator
      .map(c => KeyCount(keys(c), summary.count(c), error(c), slots(c)))
      .toVector

  /** The message, deterministic, without labels. It has slots if it knows that of each key. */
  def toProto: KeySketch = {
    val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity)
    val counters = heaviestFirst
    counters.foreach { c =>
      builder.addFingerprints(keys(c)).addCounts(summary.count(c)).addErrors(error(c))
    }
    withSlots(builder, counters)
  }

  /** The message with the heaviest keys only, where there are more than `most`. Each then has the rows
    * that are surely its own, so that no error remains; what is left out is only in the rows. */
  def heaviest(most: Int): KeySketch =
    if (size <= most) toProto
    else {
      val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity)
      val counters = surest(most).filter(sure(_) > 0)
      counters.foreach { c =>
        builder.addFingerprints(keys(c)).addCounts(sure(c)).addErrors(0)
      }
      withSlots(builder, counters)
    }

  private def withSlots(builder: KeySketch.Builder, counters: Array[Int]): KeySketch = {
    if (counters.forall(slots(_) != NoSlot)) counters.foreach(c => builder.addSlots(slots(c)))
    builder.build()
  }

  private def find(key: Long, hash: Int): Int = {
    var place = index.firstPlace(hash)
    var counter = index.counterAt(place)
    while (counter >= 0 && keys(counter) != key) {
      place = index.nextPlace(place)
      counter = index.counterAt(place)
    }
    counter
  }

  private def setKey(counter: Int, key: Long, slot: Int): Unit = {
    if (counter == keys.length) {
      keys = Arrays.copyOf(keys, Growth.next(keys.length, capacity))
      slots = Arrays.copyOf(slots, keys.length)
    }
    keys(counter) = key
    slots(counter) = slot
  }

  private[sketch] def keyBefore(left: Int, right: Int): Boolean = keys(left) < keys(right)

  private[sketch] def counterLike(other: LongSpaceSaving, counter: Int): Int =
    find(other.keys(counter), other.index.hashOf(counter))

  private[sketch] def offerLike(other: LongSpaceSaving, counter: Int): Unit =
    offer(other.keys(counter), other.summary.count(counter), other.slots(counter))

  private[sketch] def pickKeys(other: LongSpaceSaving, own: Int, picked: Array[Int]): Unit = {
    val (oldKeys, oldSlots) = (keys, slots)
    keys = picked.map(i => if (i < own) oldKeys(i) else other.keys(i - own))
    slots = picked.map(i => if (i < own) oldSlots(i) else other.slots(i - own))
  }

  private[sketch] def self: LongSpaceSaving = this
}

object LongSpaceSaving {

  /** Bytes of memory that a counter takes in a full sketch. */
  val CounterBytes: Int = SpaceSaving.CounterBytes + 12

  /** The slot of a key that has none, or more than one. */
  val NoSlot: Int = -1

  /** How many counters fit the memory, at least one. */
  def capacityFor(bytes: Long): Int = SketchMessage.capacityFor(bytes, CounterBytes)

  /** Reads a sketch. Labels are left aside.
    * @throws InvalidSketch if the message contradicts itself */
  def fromProto(proto: KeySketch): LongSpaceSaving = {
    val size = proto.getFingerprintsCount
    SketchMessage.check(
      size,
      proto.getCapacity,
      proto.getRows,
      proto.getCountsList,
      proto.getErrorsList
    )
    checkSlots(size, proto)
    val sketch = new LongSpaceSaving(math.max(proto.getCapacity, 1))
    for (i <- size - 1 to 0 by -1) {
      val key = proto.getFingerprints(i)
      val hash = KeyHash.of(key)
      if (sketch.find(key, hash) >= 0) throw new InvalidSketch(s"the sketch counts key $key twice")
      val slot = if (proto.getSlotsCount == 0) NoSlot else proto.getSlots(i)
      sketch.setKey(sketch.size, key, slot)
      sketch.append(hash, proto.getCounts(i), proto.getErrors(i))
    }
    sketch.restoreRows(proto.getRows)
    sketch
  }

  private def checkSlots(size: Int, proto: KeySketch): Unit = {
    val slots = proto.getSlotsList
    if (!slots.isEmpty && (slots.size != size || slots.stream.anyMatch(_ < 0)))
      throw new InvalidSketch(s"the sketch is damaged: $size keys with ${slots.size} slots")
  }
}
