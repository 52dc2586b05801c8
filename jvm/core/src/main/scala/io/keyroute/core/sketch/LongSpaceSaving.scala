package io.keyroute.core.sketch

import java.util.Arrays

import io.keyroute.proto.v1.KeySketch

/** The count of a key: its true count lies in [count - error, count]. */
final case class KeyCount(key: Long, count: Long, error: Long)

/** [[SpaceSaving]] over keys of 64 bits, as fingerprints are.
  * @param maxCounters m
  * @throws InvalidSketch if it is not in [1, [[SpaceSaving.MaxCapacity]]] */
final class LongSpaceSaving(maxCounters: Int) extends SpaceSaving[LongSpaceSaving](maxCounters) {

  private var keys = new Array[Long](math.min(maxCounters, 8))

  /** Counts a key.
    * @param weight rows it came with; positive */
  def offer(key: Long, weight: Long = 1L): Unit = {
    if (weight < 1) throw new InvalidSketch(s"the weight $weight is not positive")
    val hash = KeyHash.of(key)
    val counter = find(key, hash)
    if (counter >= 0) count(counter, weight) else setKey(admit(hash, weight), key)
  }

  /** All counted keys, heaviest first. */
  def entries: IndexedSeq[KeyCount] =
    heaviestFirst.iterator.map(c => KeyCount(keys(c), summary.count(c), error(c))).toVector

  /** The message, deterministic, without labels. */
  def toProto: KeySketch = {
    val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity)
    heaviestFirst.foreach { c =>
      builder.addFingerprints(keys(c)).addCounts(summary.count(c)).addErrors(error(c))
    }
    builder.build()
  }

  /** The message with the heaviest keys only, where there are more than `most`. Each then has the rows
    * that are surely its own, so that no error remains; what is left out is only in the rows. */
  def heaviest(most: Int): KeySketch =
    if (size <= most) toProto
    else {
      val builder = KeySketch.newBuilder().setRows(rows).setCapacity(capacity)
      surest(most).filter(sure(_) > 0).foreach { c =>
        builder.addFingerprints(keys(c)).addCounts(sure(c)).addErrors(0)
      }
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

  private def setKey(counter: Int, key: Long): Unit = {
    if (counter == keys.length) keys = Arrays.copyOf(keys, Growth.next(keys.length, capacity))
    keys(counter) = key
  }

  private[sketch] def keyBefore(left: Int, right: Int): Boolean = keys(left) < keys(right)

  private[sketch] def counterLike(other: LongSpaceSaving, counter: Int): Int =
    find(other.keys(counter), other.index.hashOf(counter))

  private[sketch] def offerLike(other: LongSpaceSaving, counter: Int): Unit =
    offer(other.keys(counter), other.summary.count(counter))

  private[sketch] def pickKeys(other: LongSpaceSaving, own: Int, picked: Array[Int]): Unit =
    keys = picked.map(i => if (i < own) keys(i) else other.keys(i - own))

  private[sketch] def self: LongSpaceSaving = this
}

object LongSpaceSaving {

  /** Bytes of memory that a counter takes in a full sketch. */
  val CounterBytes: Int = SpaceSaving.CounterBytes + 8

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
    val sketch = new LongSpaceSaving(math.max(proto.getCapacity, 1))
    for (i <- size - 1 to 0 by -1) {
      val key = proto.getFingerprints(i)
      val hash = KeyHash.of(key)
      if (sketch.find(key, hash) >= 0) throw new InvalidSketch(s"the sketch counts key $key twice")
      sketch.setKey(sketch.size, key)
      sketch.append(hash, proto.getCounts(i), proto.getErrors(i))
    }
    sketch.restoreRows(proto.getRows)
    sketch
  }
}
