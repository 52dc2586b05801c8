package io.keyroute.core.sketch

import java.util.Arrays

/** Heavy hitters of a stream in bounded memory: SpaceSaving (Metwally et al., ICDT 2005), for keys of
  * any kind. With m counters and N rows offered:
  *
  *  - the true count of a counted key lies in [count - error, count];
  *  - every key with a true count above N/m is counted;
  *  - as long as no more than m keys came, all counts are exact.
  *
  * All three also hold after merges. Not thread-safe.
  *
  * @tparam S the sketch itself */
abstract class SpaceSaving[S <: SpaceSaving[S]] private[sketch] (initialCapacity: Int) {
  if (initialCapacity < 1 || initialCapacity > SpaceSaving.MaxCapacity)
    throw new InvalidSketch(
      s"a sketch of $initialCapacity counters; 1 to ${SpaceSaving.MaxCapacity} are allowed"
    )

  private var counters = initialCapacity
  private var offered = 0L
  private var errors = new Array[Long](math.min(counters, 8))
  private[sketch] var summary = new StreamSummary(counters)
  private[sketch] var index = new CounterIndex(counters)

  /** m: the most counters it holds. Merging a full sketch of less capacity lowers it. */
  def capacity: Int = counters

  /** N: rows offered, the sum of all weights. */
  def rows: Long = offered

  /** Keys that are counted now. */
  def size: Int = summary.size

  /** Forgets everything, memory too. */
  def clear(): Unit = {
    reset(counters)
    pickKeys(self, 0, Array.empty[Int])
    offered = 0
  }

  /** Adds another sketch, which stays as it is. A key that only one of them counts gets the other's
    * least count if that one is full, as count and as error, since it may have been forgotten there;
    * the m heaviest of all are kept. (Cafaro, Pulimeno and Tempesta, *A parallel space saving
    * algorithm for frequent items and the Hurwitz zeta distribution*, 2016.) A small sketch that
    * forgot nothing is replayed, which gives tighter bounds and is faster. */
  def merge(other: S): Unit = {
    val total = offered + other.rows
    if (!other.isFull && other.size * 8L <= size) replay(other) else mergeCounters(other)
    offered = total
  }

  /** A sketch that is not full never forgot a key, so its errors are 0. */
  private[sketch] def isFull: Boolean = size == counters

  /** An upper bound of the true count of every key that is not counted. */
  private[sketch] def unseenBound: Long = if (isFull) summary.least else 0

  private[sketch] def error(counter: Int): Long = errors(counter)

  /** Counters, heaviest first; keys ascending where counts are equal. */
  private[sketch] def heaviestFirst: Array[Int] =
    IndexSort.sort(
      size,
      (left, right) => {
        val (l, r) = (summary.count(left), summary.count(right))
        l < r || (l == r && keyBefore(right, left))
      }
    )

  /** Counters with the most rows that are surely theirs (count less error), the most first; keys
    * ascending where those are equal. */
  private[sketch] def surest(most: Int): Array[Int] =
    IndexSort.sort(
      size,
      (left, right) => {
        val (l, r) = (sure(left), sure(right))
        l < r || (l == r && keyBefore(right, left))
      }
    ).take(most)

  private[sketch] def sure(counter: Int): Long = summary.count(counter) - errors(counter)

  /** Whether the key of one counter is before that of another, in any total order. */
  private[sketch] def keyBefore(left: Int, right: Int): Boolean

  /** This sketch's counter of a key that the other sketch counts, or -1. */
  private[sketch] def counterLike(other: S, counter: Int): Int

  /** Offers a key that the other sketch counts. */
  private[sketch] def offerLike(other: S, counter: Int): Unit

  /** Makes the keys those of the picked counters: own ones by their numbers, those of the other
    * sketch by their numbers plus `own`. */
  private[sketch] def pickKeys(other: S, own: Int, picked: Array[Int]): Unit

  private[sketch] def self: S

  /** Counts a key that has a counter. */
  private[sketch] final def count(counter: Int, weight: Long): Unit = {
    summary.increase(counter, weight)
    offered += weight
  }

  /** Gives a key that has none a counter, if need be that of a lightest key. */
  private[sketch] final def admit(hash: Int, weight: Long): Int = {
    val counter = if (isFull) evict(weight) else newCounter(summary.add(weight), 0)
    index.insert(counter, hash)
    offered += weight
    counter
  }

  /** Puts a counter behind all others when a sketch is built from what is sorted ascending. */
  private[sketch] final def append(hash: Int, count: Long, error: Long): Unit =
    index.insert(newCounter(summary.append(count), error), hash)

  private[sketch] def restoreRows(rows: Long): Unit = offered = rows

  private def evict(weight: Long): Int = {
    val (counter, least) = (summary.leastCounter, summary.least)
    index.remove(counter)
    errors(counter) = least
    summary.increase(counter, weight)
    counter
  }

  private def newCounter(counter: Int, error: Long): Int = {
    if (counter == errors.length)
      errors = Arrays.copyOf(errors, Growth.next(errors.length, counters))
    errors(counter) = error
    counter
  }

  private def replay(other: S): Unit =
    (0 until other.size).foreach(counter => offerLike(other, counter))

  private def mergeCounters(other: S): Unit = {
    val own = size
    val strangers = (0 until other.size).filter(counterLike(other, _) < 0).toArray
    val union = own + strangers.length
    val (counts, errs, hashes) =
      (new Array[Long](union), new Array[Long](union), new Array[Int](union))
    for (counter <- 0 until own) {
      val twin = other.counterLike(self, counter)
      val known = twin >= 0
      counts(counter) = summary.count(counter) +
        (if (known) other.summary.count(twin) else other.unseenBound)
      errs(counter) = errors(counter) + (if (known) other.error(twin) else other.unseenBound)
      hashes(counter) = index.hashOf(counter)
    }
    for (i <- strangers.indices) {
      counts(own + i) = other.summary.count(strangers(i)) + unseenBound
      errs(own + i) = other.error(strangers(i)) + unseenBound
      hashes(own + i) = other.index.hashOf(strangers(i))
    }
    val lessCapacity = if (other.isFull) math.min(counters, other.capacity) else counters
    val ascending = IndexSort.sort(union, (left, right) => counts(left) > counts(right))
    val kept = ascending.drop(union - lessCapacity)
    pickKeys(other, own, kept.map(i => if (i < own) i else own + strangers(i - own)))
    reset(lessCapacity)
    kept.foreach(i => append(hashes(i), counts(i), errs(i)))
  }

  private def reset(capacity: Int): Unit = {
    counters = capacity
    errors = new Array[Long](math.min(capacity, 8))
    summary = new StreamSummary(capacity)
    index = new CounterIndex(capacity)
  }
}

object SpaceSaving {

  /** The most counters a sketch may have. */
  val MaxCapacity: Int = 1 << 24

  /** Bytes a counter takes in a full sketch, without its key. */
  private[sketch] val CounterBytes: Int = 50
}

/** A sketch that cannot be used; the message says why. */
final class InvalidSketch(message: String) extends IllegalArgumentException(message)
