package io.keyroute.core.sketch

/** Hashes of sketch keys. Fingerprints are hashes already, but a pair needs its halves told apart,
  * and whoever tries a sketch with small numbers must not meet a slow one. */
private[sketch] object KeyHash {

  /** All bits depend on the key; the upper ones best. */
  def of(key: Long): Long = {
    val once = key * 0x9e3779b97f4a7c15L
    (once ^ (once >>> 32)) * 0xc2b2ae3d27d4eb4fL
  }

  def of(left: Long, right: Long): Long = of(left * 0xc2b2ae3d27d4eb4fL + right)
}
