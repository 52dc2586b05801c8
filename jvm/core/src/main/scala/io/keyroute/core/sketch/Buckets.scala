package io.keyroute.core.sketch

import java.util.Arrays

/** The buckets of a [[StreamSummary]]: a doubly linked list in arrays, with the free ones chained. */
private[sketch] final class Buckets private (
    private val counts: Array[Long],
    private val firsts: Array[Int],
    private val nexts: Array[Int],
    private val previous: Array[Int]
) {
  import StreamSummary.None

  var lowest: Int = None
  var highest: Int = None
  private var used = 0
  private var free = None

  def this(length: Int) =
    this(new Array[Long](length), new Array[Int](length), new Array[Int](length), new Array(length))

  def count(bucket: Int): Long = counts(bucket)

  def setCount(bucket: Int, count: Long): Unit = counts(bucket) = count

  /** The counter that heads a bucket; None where it is empty. */
  def first(bucket: Int): Int = firsts(bucket)

  def setFirst(bucket: Int, counter: Int): Unit = firsts(bucket) = counter

  /** The bucket of the next higher count, or None. */
  def next(bucket: Int): Int = nexts(bucket)

  /** A new empty bucket behind another, or in front of all where that is None. */
  def insertAfter(left: Int, count: Long): Int = {
    val bucket = take()
    val right = if (left == None) lowest else nexts(left)
    counts(bucket) = count
    firsts(bucket) = None
    link(left, bucket)
    link(bucket, right)
    bucket
  }

  def remove(bucket: Int): Unit = {
    link(previous(bucket), nexts(bucket))
    nexts(bucket) = free
    free = bucket
  }

  /** The same buckets with room for more. */
  def resized(length: Int): Buckets = {
    val copy = new Buckets(
      Arrays.copyOf(counts, length),
      Arrays.copyOf(firsts, length),
      Arrays.copyOf(nexts, length),
      Arrays.copyOf(previous, length)
    )
    copy.lowest = lowest
    copy.highest = highest
    copy.used = used
    copy.free = free
    copy
  }

  private def link(left: Int, right: Int): Unit = {
    if (left == None) lowest = right else nexts(left) = right
    if (right == None) highest = left else previous(right) = left
  }

  private def take(): Int =
    if (free != None) {
      val bucket = free
      free = nexts(bucket)
      bucket
    } else {
      used += 1
      used - 1
    }
}
