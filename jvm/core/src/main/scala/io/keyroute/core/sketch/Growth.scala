package io.keyroute.core.sketch

/** Lengths of arrays that start small: a task of fifty rows must not pay for a full sketch. */
private[sketch] object Growth {

  /** Twice the length and at least 8, but no more than the limit. */
  def next(length: Int, limit: Int): Int = math.min(math.max(8L, length * 2L), limit.toLong).toInt
}
