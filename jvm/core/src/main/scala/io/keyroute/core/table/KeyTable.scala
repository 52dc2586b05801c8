package io.keyroute.core.table

import java.util.Arrays

/** An immutable map from 64-bit fingerprints to targets, looked up once for each row.
  *
  * Open addressing with linear probing over two primitive arrays, filled to at most three quarters:
  * 12 bytes a slot, so 16 bytes an entry (a million entries are 16 MB). A place is free where its
  * target is -1. Equal contents have equal layouts, since entries are put in ascending order. */
final class KeyTable private (
    private val fingerprints: Array[Long],
    private val targets: Array[Int],
    val size: Int
) extends Serializable {

  /** The target of the fingerprint, or -1 where it has no entry. */
  def lookup(fingerprint: Long): Int = {
    val place = placeOf(fingerprint)
    // A free place holds fingerprint 0 and target -1, so that this answers rightly for 0, too.
    if (fingerprints(place) == fingerprint) targets(place) else KeyTable.Absent
  }

  /** Places looked at before the one that decides: what the hashing is judged by. */
  private[table] def probes(fingerprint: Long): Int =
    Math.floorMod(placeOf(fingerprint) - KeyTable.home(fingerprint, targets.length), targets.length)

  /** The place of the fingerprint, or the free place that shows it has none. */
  private def placeOf(fingerprint: Long): Int = {
    var place = KeyTable.home(fingerprint, targets.length)
    // Ends, since at least one place is free.
    while (fingerprints(place) != fingerprint && targets(place) >= 0) {
      place += 1
      if (place == targets.length) place = 0
    }
    place
  }

  /** All fingerprints with an entry, ascending. A fresh array. */
  def sortedFingerprints: Array[Long] = {
    val sorted = new Array[Long](size)
    var (place, next) = (0, 0)
    while (place < targets.length) {
      if (targets(place) >= 0) {
        sorted(next) = fingerprints(place)
        next += 1
      }
      place += 1
    }
    Arrays.sort(sorted)
    sorted
  }

  override def equals(other: Any): Boolean = other match {
    case that: KeyTable =>
      size == that.size && Arrays.equals(fingerprints, that.fingerprints) &&
      Arrays.equals(targets, that.targets)
    case _ => false
  }

  override def hashCode: Int = 31 * Arrays.hashCode(fingerprints) + Arrays.hashCode(targets)
}

object KeyTable {

  /** What [[KeyTable.lookup]] answers where there is no entry. */
  val Absent: Int = -1

  val empty: KeyTable = build(Array.empty[Long], Array.empty[Int])

  /** The most entries a table may have: 400 million, as its places must fit an array. */
  val MaxSize: Int = 400000000

  /** Builds a table.
    *
    * @param fingerprints strictly ascending as signed numbers
    * @param targets as long as `fingerprints`, none negative
    * @throws InvalidTable if either does not hold */
  def build(fingerprints: Array[Long], targets: Array[Int]): KeyTable = {
    checkEntries(fingerprints, targets)
    val capacity = (fingerprints.length.toLong * 4 / 3 + 1).toInt
    val keys = new Array[Long](capacity)
    val values = new Array[Int](capacity)
    Arrays.fill(values, Absent)
    var i = 0
    while (i < fingerprints.length) {
      var place = home(fingerprints(i), capacity)
      while (values(place) >= 0) {
        place += 1
        if (place == capacity) place = 0
      }
      keys(place) = fingerprints(i)
      values(place) = targets(i)
      i += 1
    }
    new KeyTable(keys, values, fingerprints.length)
  }

  private def checkEntries(fingerprints: Array[Long], targets: Array[Int]): Unit = {
    val size = fingerprints.length
    if (size > MaxSize) throw new InvalidTable(s"$size entries are more than $MaxSize")
    if (size != targets.length)
      throw new InvalidTable(s"$size fingerprints but ${targets.length} targets")
    var i = 0
    while (i < size) {
      if (i > 0 && fingerprints(i - 1) >= fingerprints(i))
        throw new InvalidTable(s"the fingerprints are not strictly ascending at entry $i")
      if (targets(i) < 0)
        throw new InvalidTable(s"entry $i has the target ${Integer.toUnsignedString(targets(i))}")
      i += 1
    }
  }

  /** Where a fingerprint belongs, in [0, capacity): Fibonacci hashing folded once (fingerprints that
    * differ in few bits must not cluster), then the upper 32 bits scaled to the capacity. */
  private def home(fingerprint: Long, capacity: Int): Int = {
    val mixed = (fingerprint ^ (fingerprint >>> 32)) * 0x9e3779b97f4a7c15L
    (((mixed >>> 32) * capacity) >>> 32).toInt
  }
}
