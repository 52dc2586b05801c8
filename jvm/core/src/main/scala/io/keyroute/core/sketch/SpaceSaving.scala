package io.keyroute.core.sketch

/** Heavy hitters of a stream in bounded memory: SpaceSaving (Metwally et al., ICDT 2005) that
  * forgets many keys at once, for keys of any kind. With m counters and N rows offered:
  *
  *  - the true count of a counted key lies in [count - error, count];
  *  - every key with a true count above N/m is counted;
  *  - as long as no more than m keys came, all counts are exact.
  *
  * All three also hold after merges. An update takes constant time, amortised. Not thread-safe.
  *
  * '''How.''' A hash table has a third more places than m, and a floor: no key that is not in the
  * table has more rows. A new key begins with the floor as count and error, and then has its own
  * rows. When less than an eighth of the places is free or has a key with a count up to the floor,
  * the floor rises to the m-th highest count. Keys up to the floor stay, and count on, until a new
  * one needs their place: as in the paper the least goes, here the least of the new key's group.
  *
  * '''Why N/m.''' Let E be the sum, over the keys in the table, of what their counts exceed the
  * floor by. A row of weight w adds at most w to E, whether its key is known, gets a free place,
  * or takes one (what it drives out had no part in E). Where the floor rises by d, at least m keys
  * have counts that are not below the new one, and E falls by m * d or more. So floor * m + E <=
  * N, and a key that is not in the table has no more than N/m rows. In a merge the floors add up,
  * E is at most the sum of both, and where the union is cut, more than m keys stay that are not
  * below the new floor.
  *
  * @tparam S the sketch itself */
abstract class SpaceSaving[S <: SpaceSaving[S]] private[sketch] (initialCapacity: Int) {
  if (initialCapacity < 1 || initialCapacity > SpaceSaving.MaxCapacity)
    throw new InvalidSketch(
      s"a sketch of $initialCapacity counters; 1 to ${SpaceSaving.MaxCapacity} are allowed"
    )

  private var counters = initialCapacity
  private var offered = 0L
  private var lowest = 0L
  // Places in use, and those of them whose keys are above the floor.
  private var used = 0
  private var above = 0
  private[sketch] var places = new Places(1)
  private[sketch] var counts = new Tallies(Places.Width)
  private[sketch] var errors = new Tallies(Places.Width)

  /** m: every key with more than N/m rows is counted. Merging a sketch of less capacity that has
    * forgotten keys lowers it. */
  def capacity: Int = counters

  /** N: rows offered, the sum of all weights. */
  def rows: Long = offered

  /** Keys that are told: those above the floor, and some below it. At most a sixth more than m. */
  def size: Int = math.min(used, SketchSize.mostTold(counters))

  /** No key that is not told has more rows; 0 as long as all are. */
  def floor: Long = lowest

  /** Adds another sketch, which stays as it is. A key that only one of them counts gets the
    * other's floor, as count and as error, since it may have been forgotten there; the heaviest of
    * all are kept. (Cafaro, Pulimeno and Tempesta, *A parallel space saving algorithm for frequent
    * items and the Hurwitz zeta distribution*, 2016.) A small sketch that forgot nothing is
    * replayed, which is faster.
    * @throws InvalidSketch if there are more rows than can be counted; then nothing is added */
  def merge(other: S): Unit = {
    val total = offered + other.rows
    if (total < 0) throw new InvalidSketch(s"$offered and ${other.rows} rows are too many")
    if (other.floor == 0 && other.size <= size / 8) replay(other) else mergeCounters(other)
    offered = total
  }

  /** Places of the keys that are told, heaviest first; keys ascending where counts are equal. */
  private[sketch] def heaviestFirst: Array[Int] = sorted(counts(_)).take(size)

  /** Places of the keys that are told, in no order: sorting takes as long as counting does. */
  private[sketch] def told: Array[Int] = IndexSort.heaviest(taken, size, counts(_))

  /** Places of the keys with the most rows that are surely theirs (count less error), in no order. */
  private[sketch] def surest(most: Int): Array[Int] = IndexSort.heaviest(taken, most, sure)

  private[sketch] def sure(place: Int): Long = counts(place) - errors(place)

  /** Whether a message of at most so many keys leaves none out. */
  private[sketch] def fits(most: Int): Boolean = most >= counters || size <= most

  /** Whether the key of one place is before that of another, in any total order. */
  private[sketch] def keyBefore(left: Int, right: Int): Boolean

  /** The hash of the key at a place. */
  private[sketch] def hashAt(place: Int): Long

  /** This sketch's place of a key that the other sketch counts, or -1. */
  private[sketch] def placeLike(other: S, place: Int): Int

  /** Offers a key that the other sketch counts. */
  private[sketch] def offerLike(other: S, place: Int): Unit

  /** Puts a key at a place that the other sketch has. */
  private[sketch] def setLike(place: Int, other: S, from: Int): Unit

  /** Makes the keys those of so many places; those at `to` are what were those at `from`. */
  private[sketch] def moveKeys(from: Array[Int], to: Array[Int], length: Int): Unit

  private[sketch] def self: S

  /** Counts a key that has a place. */
  private[sketch] final def count(place: Int, weight: Long): Unit = {
    addRows(weight)
    val before = counts(place)
    counts(place) = before + weight
    if (before <= lowest && before + weight > lowest) {
      above += 1
      if (above > SketchSize.mostAbove(places.groups)) makeRoom()
    }
  }

  /** Gives a key a place that has none, and counts it. */
  private[sketch] final def admit(hash: Long, weight: Long): Int = {
    addRows(weight)
    if (above >= SketchSize.mostAbove(places.groups)) makeRoom()
    val place = claim(hash)
    places.take(place, hash)
    counts(place) = lowest + weight
    errors(place) = lowest
    above += 1
    place
  }

  /** A free place, of which there must be one, for a key that has none. */
  private[sketch] final def put(hash: Long, count: Long, error: Long): Int = {
    val place = places.enter(hash)
    counts(place) = count
    errors(place) = error
    used += 1
    if (count > lowest) above += 1
    place
  }

  /** What a message says beside its keys; room for so many is made. */
  private[sketch] final def restore(rows: Long, floor: Long, keys: Int): Unit = {
    rebuild(Array.emptyIntArray, SketchSize.groupsFor(keys))
    offered = rows
    lowest = floor
  }

  private def addRows(weight: Long): Unit = {
    val total = offered + weight
    if (weight < 1 || total < 0)
      throw new InvalidSketch(s"a weight of $weight after $offered rows")
    offered = total
  }

  /** A free place as near as can be to where a look begins, or that of a key up to the floor. */
  private def claim(hash: Long): Int = {
    var group = places.home(hash)
    var place = -1
    while (place < 0) {
      val free = places.free(group)
      if (free != 0) {
        place = Places.at(group, free)
        used += 1
      } else {
        val least = counts.least(group * Places.Width, Places.Width)
        if (counts(least) <= lowest) {
          places.withdraw(least, hashAt(least))
          place = least
        } else {
          places.pass(group)
          group = places.next(group)
        }
      }
    }
    place
  }

  private def makeRoom(): Unit = {
    val most = SketchSize.mostGroups(counters)
    if (places.groups < most) rebuild(taken, math.min(places.groups * SpaceSaving.Growth, most))
    else {
      lowest = counts.ranked(counts.length - counters, lowest)
      above = counts.above(lowest)
    }
  }

  private def taken: Array[Int] = {
    val found = new Array[Int](used)
    var n = 0
    var group = 0
    while (group < places.groups) {
      var mask = places.taken(group)
      while (mask != 0) {
        found(n) = Places.at(group, mask)
        mask &= mask - 1
        n += 1
      }
      group += 1
    }
    found
  }

  private def sorted(weight: Int => Long): Array[Int] = {
    val from = taken
    val weights = new Array[Long](used)
    from.indices.foreach(i => weights(i) = weight(from(i)))
    IndexSort.sort(
      used,
      (l, r) =>
        weights(l) < weights(r) || (weights(l) == weights(r) && keyBefore(from(r), from(l)))
    ).map(from(_))
  }

  private def replay(other: S): Unit = other.taken.foreach(offerLike(other, _))

  private def mergeCounters(other: S): Unit = {
    val (own, others) = (taken, other.taken)
    val (ownFloor, otherFloor) = (lowest, other.floor)
    val strangers = others.filter(placeLike(other, _) < 0)
    if (otherFloor > 0) {
      own.filter(other.placeLike(self, _) < 0).foreach { place =>
        counts(place) += otherFloor
        errors(place) += otherFloor
      }
      counters = math.min(counters, other.capacity)
    }
    others.foreach { from =>
      val place = placeLike(other, from)
      if (place >= 0) {
        counts(place) += other.counts(from)
        errors(place) += other.errors(from)
      }
    }
    val groups = SketchSize.groupsFor(own.length + strangers.length)
    if (groups > places.groups) rebuild(own, groups)
    strangers.foreach { from =>
      val place =
        put(other.hashAt(from), other.counts(from) + ownFloor, other.errors(from) + ownFloor)
      setLike(place, other, from)
    }
    lowest = ownFloor + otherFloor
    cut()
  }

  /** Back to what the capacity allows: the heaviest stay. */
  private def cut(): Unit = {
    val (most, groups) = (SketchSize.mostTold(counters), SketchSize.mostGroups(counters))
    if (used > most) {
      val all = sorted(counts(_))
      lowest = math.max(lowest, counts(all(most)))
      rebuild(all.take(most), groups)
    } else if (places.groups > groups) rebuild(taken, groups)
    above = counts.above(lowest)
  }

  /** A table of so many groups that has only the keys of these places. */
  private def rebuild(kept: Array[Int], groups: Int): Unit = {
    val fresh = new Places(groups)
    val to = new Array[Int](kept.length)
    kept.indices.foreach(i => to(i) = fresh.enter(hashAt(kept(i))))
    val length = groups * Places.Width
    counts = counts.moved(kept, to, length)
    errors = errors.moved(kept, to, length)
    moveKeys(kept, to, length)
    places = fresh
    used = kept.length
    above = counts.above(lowest)
  }
}

object SpaceSaving {

  /** The most counters a sketch may have. */
  val MaxCapacity: Int = 1 << 24

  // To grow is most of what a new key costs.
  private val Growth = 4
}

/** A sketch that cannot be used; the message says why. */
final class InvalidSketch(message: String) extends IllegalArgumentException(message)
