package io.keyroute.core.sketch

import java.util.Arrays

/** A stable merge sort of the numbers 0 until n by an order on what they point to, without boxing:
  * the driver sorts tens of thousands of counters for each map task that it merges. */
private[sketch] object IndexSort {

  trait Order {

    /** Whether `right` must come before `left`. */
    def outOfOrder(left: Int, right: Int): Boolean
  }

  def sort(n: Int, order: Order): Array[Int] = {
    var from = Array.range(0, n)
    var to = new Array[Int](n)
    var run = 1
    while (run < n) {
      var start = 0
      while (start < n) {
        val middle = math.min(start + run, n)
        mergeRuns(from, to, start, middle, math.min(middle + run, n), order)
        start += 2 * run
      }
      val sorted = to
      to = from
      from = sorted
      run *= 2
    }
    from
  }

  /** Of some numbers as many as are allowed, those with the most weight, in the order that they have. */
  def heaviest(from: Array[Int], most: Int, weight: Int => Long): Array[Int] =
    if (from.length <= most) from
    else if (most < 1) Array.emptyIntArray
    else {
      val weights = from.map(weight)
      val ascending = weights.clone()
      Arrays.sort(ascending)
      val least = ascending(from.length - most)
      var ties = most - weights.count(_ > least)
      from.indices.iterator.filter { i =>
        if (weights(i) == least) ties -= 1
        weights(i) > least || (weights(i) == least && ties >= 0)
      }.map(from(_)).toArray
    }

  private def mergeRuns(
      from: Array[Int],
      to: Array[Int],
      start: Int,
      middle: Int,
      end: Int,
      order: Order
  ): Unit = {
    var (left, right, next) = (start, middle, start)
    while (next < end) {
      val takeRight =
        left == middle || (right < end && order.outOfOrder(from(left), from(right)))
      if (takeRight) {
        to(next) = from(right)
        right += 1
      } else {
        to(next) = from(left)
        left += 1
      }
      next += 1
    }
  }
}
