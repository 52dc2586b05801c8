package io.keyroute.core.sketch

import io.keyroute.proto.v1.PairSketch

/** The count of a pair: its true count lies in [count - error, count]. */
final case class PairCount(upstream: Long, downstream: Long, count: Long, error: Long)

/** [[SpaceSaving]] over pairs (key of the upstream operator, key of the downstream one): the edges
  * of the key graph (Caneill et al. 2016, section 3.2).
  * @param maxCounters m
  * @throws InvalidSketch if it is not in [1, [[SpaceSaving.MaxCapacity]]] */
final class PairSpaceSaving(maxCounters: Int) extends SpaceSaving[PairSpaceSaving](maxCounters) {

  private var lefts = new Array[Long](Places.Width)
  private var rights = new Array[Long](Places.Width)

  /** Counts a pair.
    * @param weight rows it came with; positive */
  def offer(upstream: Long, downstream: Long, weight: Long = 1L): Unit = {
    val hash = KeyHash.of(upstream, downstream)
    val place = find(upstream, downstream, hash)
    if (place >= 0) count(place, weight) else setPair(admit(hash, weight), upstream, downstream)
  }

  /** The pairs that are told, heaviest first. */
  def entries: IndexedSeq[PairCount] =
    heaviestFirst.iterator.map(p => PairCount(lefts(p), rights(p), counts(p), errors(p))).toVector

  /** The message, deterministic. */
  def toProto: PairSketch = whole(heaviestFirst)

  /** The message in no order, and with the heaviest pairs only where `most` is less than the
    * capacity and there are more. Each then has the rows that are surely its own, so that no error
    * remains; what is left out is only in the rows. */
  def heaviest(most: Int): PairSketch =
    if (fits(most)) whole(told)
    else {
      val builder = PairSketch.newBuilder().setRows(rows).setCapacity(capacity)
      surest(most).foreach { p =>
        builder.addUpstream(lefts(p)).addDownstream(rights(p)).addCounts(sure(p)).addErrors(0)
      }
      builder.build()
    }

  private def whole(told: Array[Int]): PairSketch = {
    val builder = PairSketch.newBuilder().setRows(rows).setCapacity(capacity).setFloor(floor)
    told.foreach { p =>
      builder.addUpstream(lefts(p)).addDownstream(rights(p))
      builder.addCounts(counts(p)).addErrors(errors(p))
    }
    builder.build()
  }

  private def find(left: Long, right: Long, hash: Long): Int = {
    val home = places.home(hash)
    var group = home
    var place = at(group, left, right, hash)
    while (place < 0 && places.passed(group) && places.next(group) != home) {
      group = places.next(group)
      place = at(group, left, right, hash)
    }
    place
  }

  /** The place of a pair in a group, or -1. */
  private def at(group: Int, left: Long, right: Long, hash: Long): Int = {
    var mask = places.matches(group, hash)
    while (mask != 0 && !isPair(Places.at(group, mask), left, right)) mask &= mask - 1
    if (mask == 0) -1 else Places.at(group, mask)
  }

  private def isPair(place: Int, left: Long, right: Long): Boolean =
    lefts(place) == left && rights(place) == right

  private def setPair(place: Int, left: Long, right: Long): Unit = {
    lefts(place) = left
    rights(place) = right
  }

  private[sketch] def keyBefore(left: Int, right: Int): Boolean =
    lefts(left) < lefts(right) || (lefts(left) == lefts(right) && rights(left) < rights(right))

  private[sketch] def hashAt(place: Int): Long = KeyHash.of(lefts(place), rights(place))

  private[sketch] def placeLike(other: PairSpaceSaving, place: Int): Int =
    find(other.lefts(place), other.rights(place), other.hashAt(place))

  private[sketch] def offerLike(other: PairSpaceSaving, place: Int): Unit =
    offer(other.lefts(place), other.rights(place), other.counts(place))

  private[sketch] def setLike(place: Int, other: PairSpaceSaving, from: Int): Unit =
    setPair(place, other.lefts(from), other.rights(from))

  private[sketch] def moveKeys(from: Array[Int], to: Array[Int], length: Int): Unit = {
    val (oldLefts, oldRights) = (lefts, rights)
    lefts = new Array[Long](length)
    rights = new Array[Long](length)
    from.indices.foreach(i => setPair(to(i), oldLefts(from(i)), oldRights(from(i))))
  }

  private[sketch] def self: PairSpaceSaving = this
}

object PairSpaceSaving {

  private val GroupBytes = SketchSize.GroupBytes + Places.Width * 16

  /** How many counters fit the memory, at least one: 62,553 in 2 MiB. */
  def capacityFor(bytes: Long): Int = SketchSize.capacityFor(bytes, GroupBytes)

  /** Reads a sketch.
    * @throws InvalidSketch if the message contradicts itself */
  def fromProto(proto: PairSketch): PairSpaceSaving = {
    val size = proto.getUpstreamCount
    SketchMessage.check(
      size,
      proto.getCapacity,
      proto.getRows,
      proto.getFloor,
      proto.getCountsList,
      proto.getErrorsList
    )
    if (proto.getDownstreamCount != size)
      throw new InvalidSketch(
        s"$size upstream keys but ${proto.getDownstreamCount} downstream ones"
      )
    val sketch = new PairSpaceSaving(math.max(proto.getCapacity, 1))
    sketch.restore(proto.getRows, proto.getFloor, size)
    for (i <- 0 until size) {
      val (left, right) = (proto.getUpstream(i), proto.getDownstream(i))
      val hash = KeyHash.of(left, right)
      if (sketch.find(left, right, hash) >= 0)
        throw new InvalidSketch(s"the sketch counts the pair ($left, $right) twice")
      sketch.setPair(sketch.put(hash, proto.getCounts(i), proto.getErrors(i)), left, right)
    }
    sketch
  }
}
