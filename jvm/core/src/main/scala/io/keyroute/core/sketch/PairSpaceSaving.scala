package io.keyroute.core.sketch

import java.util.Arrays

import io.keyroute.proto.v1.PairSketch

/** The count of a pair: its true count lies in [count - error, count]. */
final case class PairCount(upstream: Long, downstream: Long, count: Long, error: Long)

/** [[SpaceSaving]] over pairs (key of the upstream operator, key of the downstream one): the edges of
  * the key graph (Caneill et al. 2016, section 3.2).
  * @param maxCounters m
  * @throws InvalidSketch if it is not in [1, [[SpaceSaving.MaxCapacity]]] */
final class PairSpaceSaving(maxCounters: Int) extends SpaceSaving[PairSpaceSaving](maxCounters) {

  private var lefts = new Array[Long](math.min(maxCounters, 8))
  private var rights = new Array[Long](lefts.length)

  /** Counts a pair.
    * @param weight rows it came with; positive */
  def offer(upstream: Long, downstream: Long, weight: Long = 1L): Unit = {
    if (weight < 1) throw new InvalidSketch(s"the weight $weight is not positive")
    val hash = KeyHash.of(upstream, downstream)
    val counter = find(upstream, downstream, hash)
    if (counter >= 0) count(counter, weight)
    else setPair(admit(hash, weight), upstream, downstream)
  }

  /** All counted pairs, heaviest first. */
  def entries: IndexedSeq[PairCount] =
    heaviestFirst.iterator
      .map(c => PairCount(lefts(c), rights(c), summary.count(c), error(c)))
      .toVector

  /** The message, deterministic. */
  def toProto: PairSketch = {
    val builder = PairSketch.newBuilder().setRows(rows).setCapacity(capacity)
    heaviestFirst.foreach { c =>
      builder.addUpstream(lefts(c)).addDownstream(rights(c))
      builder.addCounts(summary.count(c)).addErrors(error(c))
    }
    builder.build()
  }

  /** The message with the heaviest pairs only, where there are more than `most`. Each then has the rows
    * that are surely its own, so that no error remains; what is left out is only in the rows. */
  def heaviest(most: Int): PairSketch =
    if (size <= most) toProto
    else {
      val builder = PairSketch.newBuilder().setRows(rows).setCapacity(capacity)
      surest(most).filter(sure(_) > 0).foreach { c =>
        builder.addUpstream(lefts(c)).addDownstream(rights(c))
        builder.addCounts(sure(c)).addErrors(0)
      }
      builder.build()
    }

  private def find(left: Long, right: Long, hash: Int): Int = {
    var place = index.firstPlace(hash)
    var counter = index.counterAt(place)
    while (counter >= 0 && (lefts(counter) != left || rights(counter) != right)) {
      place = index.nextPlace(place)
      counter = index.counterAt(place)
    }
    counter
  }

  private def setPair(counter: Int, left: Long, right: Long): Unit = {
    if (counter == lefts.length) {
      lefts = Arrays.copyOf(lefts, Growth.next(lefts.length, capacity))
      rights = Arrays.copyOf(rights, lefts.length)
    }
    lefts(counter) = left
    rights(counter) = right
  }

  private[sketch] def keyBefore(left: Int, right: Int): Boolean =
    lefts(left) < lefts(right) || (lefts(left) == lefts(right) && rights(left) < rights(right))

  private[sketch] def counterLike(other: PairSpaceSaving, counter: Int): Int =
    find(other.lefts(counter), other.rights(counter), other.index.hashOf(counter))

  private[sketch] def offerLike(other: PairSpaceSaving, counter: Int): Unit =
    offer(other.lefts(counter), other.rights(counter), other.summary.count(counter))

  private[sketch] def pickKeys(other: PairSpaceSaving, own: Int, picked: Array[Int]): Unit = {
    val (oldLefts, oldRights) = (lefts, rights)
    lefts = picked.map(i => if (i < own) oldLefts(i) else other.lefts(i - own))
    rights = picked.map(i => if (i < own) oldRights(i) else other.rights(i - own))
  }

  private[sketch] def self: PairSpaceSaving = this
}

object PairSpaceSaving {

  /** Bytes of memory that a counter takes in a full sketch. */
  val CounterBytes: Int = SpaceSaving.CounterBytes + 16

  /** How many counters fit the memory, at least one: 31,775 in 2 MiB. */
  def capacityFor(bytes: Long): Int = SketchMessage.capacityFor(bytes, CounterBytes)

  /** Reads a sketch.
    * @throws InvalidSketch if the message contradicts itself */
  def fromProto(proto: PairSketch): PairSpaceSaving = {
    val size = proto.getUpstreamCount
    SketchMessage.check(
      size,
      proto.getCapacity,
      proto.getRows,
      proto.getCountsList,
      proto.getErrorsList
    )
    if (proto.getDownstreamCount != size)
      throw new InvalidSketch(
        s"$size upstream keys but ${proto.getDownstreamCount} downstream ones"
      )
    val sketch = new PairSpaceSaving(math.max(proto.getCapacity, 1))
    for (i <- size - 1 to 0 by -1) {
      val (left, right) = (proto.getUpstream(i), proto.getDownstream(i))
      val hash = KeyHash.of(left, right)
      if (sketch.find(left, right, hash) >= 0)
        throw new InvalidSketch(s"the sketch counts the pair ($left, $right) twice")
      sketch.setPair(sketch.size, left, right)
      sketch.append(hash, proto.getCounts(i), proto.getErrors(i))
    }
    sketch.restoreRows(proto.getRows)
    sketch
  }
}
