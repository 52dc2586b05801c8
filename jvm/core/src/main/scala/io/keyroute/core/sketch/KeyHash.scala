package io.keyroute.core.sketch

/** Hashes of sketch keys. Fingerprints are hashes already, but a pair needs its halves told apart,
  * and whoever tries a sketch with small numbers must not meet a slow one. */
private[sketch] object KeyHash {

  /** The upper half of a multiplicative hash (golden ratio). */
  def of(key: Long): Int = (((key ^ (key >>> 32)) * 0x9e3779b97f4a7c15L) >>> 32).toInt

  def of(left: Long, right: Long): Int = of(left * 0xc2b2ae3d27d4eb4fL + right)
}
