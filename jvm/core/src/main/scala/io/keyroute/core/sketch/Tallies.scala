package io.keyroute.core.sketch

/** Numbers from 0 up, each in 32 bits until one does not fit; then all are in 64. The loops over
  * those of 32 bits are there for speed, and have no branch that depends on a number. */
private[sketch] final class Tallies(val length: Int) {
  private var ints = new Array[Int](length)
  private var longs: Array[Long] = null

  def apply(at: Int): Long = if (longs eq null) ints(at).toLong else longs(at)

  def update(at: Int, value: Long): Unit =
    if (longs eq null) {
      if (value <= Int.MaxValue) ints(at) = value.toInt
      else {
        widen()
        longs(at) = value
      }
    } else longs(at) = value

  /** So many numbers, of which those at `to` are those at `from` here, and the others 0. */
  def moved(from: Array[Int], to: Array[Int], newLength: Int): Tallies = {
    val fresh = new Tallies(newLength)
    var i = 0
    while (i < from.length) {
      fresh(to(i)) = this(from(i))
      i += 1
    }
    fresh
  }

  /** The number that so many others come before in ascending order. It must be at least `least`:
    * what is less is only counted. A radix selection, most often in one pass. */
  def ranked(rank: Int, least: Long): Long = {
    var base = least
    var shift = 0
    var found = -1L
    while (found < 0) {
      val bin = binOf(rank, base, shift)
      if (bin == Tallies.Bins) shift += 8
      else if (shift == 0) found = base + bin
      else {
        base += bin.toLong << shift
        shift -= 8
      }
    }
    found
  }

  /** How many are above a number. */
  def above(bound: Long): Int = {
    var count = 0
    var at = 0
    if ((longs eq null) && bound <= Int.MaxValue) {
      val least = bound.toInt
      while (at < length) {
        count += (least - ints(at)) >>> 31
        at += 1
      }
    } else
      while (at < length) {
        if (this(at) > bound) count += 1
        at += 1
      }
    count
  }

  /** The place of the least number of at most eight from a place on; of equal ones the first. */
  def least(first: Int, few: Int): Int = {
    var i = 0
    if (longs eq null) {
      var least = Long.MaxValue
      while (i < few) {
        least = math.min(least, (ints(first + i).toLong << 3) | i)
        i += 1
      }
      first + (least & 7).toInt
    } else {
      var least = 0
      while (i < few) {
        if (longs(first + i) < longs(first + least)) least = i
        i += 1
      }
      first + least
    }
  }

  /** Where the number of that rank is, of 256 bins that begin at the base and are 2 to the power of
    * the shift wide; Bins where it is beyond them. */
  private def binOf(rank: Int, base: Long, shift: Int): Int = {
    val bins = new Array[Int](Tallies.Bins + 2)
    var at = 0
    if ((longs eq null) && base <= Int.MaxValue) {
      val from = base.toInt
      while (at < length) {
        bins(math.max(-1, math.min((ints(at) - from) >> shift, Tallies.Bins)) + 1) += 1
        at += 1
      }
    } else
      while (at < length) {
        val bin = math.max(-1L, math.min((this(at) - base) >> shift, Tallies.Bins.toLong)).toInt
        bins(bin + 1) += 1
        at += 1
      }
    var bin = 0
    var before = bins(0) + bins(1)
    while (before <= rank && bin < Tallies.Bins) {
      bin += 1
      before += bins(bin + 1)
    }
    bin
  }

  private def widen(): Unit = {
    longs = new Array[Long](length)
    var at = 0
    while (at < length) {
      longs(at) = ints(at).toLong
      at += 1
    }
    ints = null
  }
}

private object Tallies {
  private val Bins = 256
}
