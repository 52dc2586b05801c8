package io.keyroute.bench

import java.util.Arrays

import scala.util.Random

/** Keys by Zipf's law: the key of rank r has a weight of r to the power of -exponent. */
object ZipfStream {

  /** @param distinct keys there are; not all of them need to come */
  def apply(rows: Int, distinct: Int, exponent: Double, seed: Long = 7): Array[Long] = {
    val random = new Random(seed)
    val cumulated = (1 to distinct).iterator
      .scanLeft(0.0)((sum, rank) => sum + math.pow(rank.toDouble, -exponent))
      .toArray
    // Ranks are spread over all longs, as fingerprints are.
    Array.fill(rows) {
      val found = Arrays.binarySearch(cumulated, random.nextDouble() * cumulated.last)
      (if (found < 0) -found else found + 1) * 0x9e3779b97f4a7c15L
    }
  }
}
