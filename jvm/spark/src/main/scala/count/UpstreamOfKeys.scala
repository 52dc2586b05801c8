package org.apache.spark.sql.keyroute.count

/** One upstream key for each key of an exchange. Of the rows that a partial aggregation makes one of, many
  * upstream keys may come: each of them is as likely to be kept as any other, and the choice is another one
  * in each task and batch. So the counts of pairs sum up to the rows that cross the exchange, and each
  * upstream key has its even share of them in the mean.
  *
  * @param most
  *   keys that are kept; further ones have no upstream key
  */
final class UpstreamOfKeys(most: Int, seed: Long) {
  // Open addressing with linear probing, at most half full.
  private var taken = new Array[Boolean](64)
  private var keys = new Array[Long](64)
  private var fingerprints = new Array[Long](64)
  private var hashes = new Array[Int](64)
  private var size = 0

  def note(key: Long, fingerprint: Long, hash: Int): Unit = {
    val at = place(key)
    if (taken(at)) {
      if (fingerprints(at) != fingerprint && rank(fingerprint) < rank(fingerprints(at)))
        set(at, key, fingerprint, hash)
    } else if (size < most) {
      set(at, key, fingerprint, hash)
      size += 1
      if (2 * size > keys.length) grow()
    }
  }

  /** Where the key is, or -1. */
  def find(key: Long): Int = {
    val at = place(key)
    if (taken(at)) at else -1
  }

  def fingerprint(at: Int): Long = fingerprints(at)

  def hash(at: Int): Int = hashes(at)

  /** Of the upstream keys of a key the one of the least rank is kept, whatever the order of rows. */
  private def rank(fingerprint: Long): Long = UpstreamOfKeys.mixed(fingerprint ^ seed)

  /** Where the key is, or would be. */
  private def place(key: Long): Int = {
    val last = keys.length - 1
    var at = UpstreamOfKeys.mixed(key).toInt & last
    while (taken(at) && keys(at) != key) at = (at + 1) & last
    at
  }

  private def set(at: Int, key: Long, fingerprint: Long, hash: Int): Unit = {
    taken(at) = true
    keys(at) = key
    fingerprints(at) = fingerprint
    hashes(at) = hash
  }

  private def grow(): Unit = {
    val (had, oldKeys, oldFingerprints, oldHashes) = (taken, keys, fingerprints, hashes)
    taken = new Array[Boolean](2 * had.length)
    keys = new Array[Long](taken.length)
    fingerprints = new Array[Long](taken.length)
    hashes = new Array[Int](taken.length)
    had.indices.foreach { i =>
      if (had(i)) set(place(oldKeys(i)), oldKeys(i), oldFingerprints(i), oldHashes(i))
    }
  }
}

object UpstreamOfKeys {

  /** @param partition
    *   of the map task
    */
  def seed(batch: Long, partition: Int): Long = mixed(mixed(batch) + partition)

  /** The finalizer of MurmurHash3. */
  private def mixed(number: Long): Long = {
    var h = number
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L
    h ^ (h >>> 33)
  }
}
