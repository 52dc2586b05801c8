package io.keyroute.core.sketch

/** Which places of a hash table are taken, and where to look for a key: groups of seven places,
  * each with a word of seven tags (seven bits of the key's hash, and one that says taken). The
  * highest byte of the word counts the keys that have passed by because the group was full. A key
  * is in its home group or in one after it, up to the first that none has passed: a look most
  * often reads one word, and a key may be taken out without moving any other. (After F14, the hash
  * tables of Bronson and Shi, 2019.)
  *
  * At 255 the passers are no longer known, and stay so: a look then goes on for longer, no more. */
private[sketch] final class Places(val groups: Int) {
  import Places._

  private val words = new Array[Long](groups)

  /** The group where a look for a hash begins. */
  def home(hash: Long): Int = (((hash >>> 32) * groups) >>> 32).toInt

  def next(group: Int): Int = if (group + 1 == groups) 0 else group + 1

  /** A mask for [[at]] of places whose keys may have this hash; a few have not. */
  def matches(group: Int, hash: Long): Long = {
    val differing = words(group) ^ (tag(hash) * Ones)
    (differing - Ones) & ~differing & Highs
  }

  /** A mask of free places. */
  def free(group: Int): Long = ~words(group) & Highs

  /** Whether a look has to go on behind the group. */
  def passed(group: Int): Boolean = (words(group) >>> 56) != 0

  /** A mask of places that are not free. */
  def taken(group: Int): Long = words(group) & Highs

  /** Takes the free place that is nearest to where a look begins; there must be one. */
  def enter(hash: Long): Int = {
    var group = home(hash)
    while (free(group) == 0) {
      pass(group)
      group = next(group)
    }
    val place = at(group, free(group))
    take(place, hash)
    place
  }

  /** Notes a key at a place, be it free or another's. */
  def take(place: Int, hash: Long): Unit = {
    val (group, shift) = (place / Width, 8 * (place % Width))
    words(group) = (words(group) & ~(0xffL << shift)) | (tag(hash) << shift)
  }

  /** A key goes by, since the group is full. */
  def pass(group: Int): Unit = if ((words(group) >>> 56) != Unknown) words(group) += One

  /** A key that went by is no more behind the groups from its home to that of its place. */
  def withdraw(place: Int, hash: Long): Unit = {
    val last = place / Width
    var group = home(hash)
    while (group != last) {
      if ((words(group) >>> 56) != Unknown) words(group) -= One
      group = next(group)
    }
  }
}

private[sketch] object Places {

  /** Places of a group. */
  final val Width = 7
  private final val Ones = 0x0001010101010101L
  private final val Highs = 0x0080808080808080L
  private final val One = 1L << 56
  private final val Unknown = 0xffL

  private def tag(hash: Long): Long = (hash & 0x7f) | 0x80

  /** The first place of a mask. */
  def at(group: Int, mask: Long): Int =
    group * Width + (java.lang.Long.numberOfTrailingZeros(mask) >>> 3)
}
