package io.keyroute.core.sketch

import java.util.Arrays

/** The stream summary of Metwally, Agrawal and El Abbadi, *Efficient Computation of Frequent and
  * Top-k Elements in Data Streams*, ICDT 2005, section 3.2: counters of equal count hang in a bucket,
  * buckets are chained by ascending count, so that adding 1 to any counter and finding a least one
  * take constant time. Here both chains are in arrays. An increase by more walks over the counts in
  * between.
  *
  * Invariants: the chain of buckets is strictly ascending; no bucket is empty. */
private[sketch] final class StreamSummary(capacity: Int) {
  import StreamSummary.None

  private var buckets = new Buckets(math.min(capacity, 8) + 1)
  private var bucketOf = new Array[Int](math.min(capacity, 8))
  // Neighbours in the same bucket.
  private var after = new Array[Int](bucketOf.length)
  private var before = new Array[Int](bucketOf.length)

  /** Counters so far; they are numbered from 0. */
  var size: Int = 0

  def count(counter: Int): Long = buckets.count(bucketOf(counter))

  /** The least count; 0 where there is no counter. */
  def least: Long = if (buckets.lowest == None) 0 else buckets.count(buckets.lowest)

  /** A counter that has the least count. */
  def leastCounter: Int = buckets.first(buckets.lowest)

  /** Adds a counter, and answers its number. */
  def add(count: Long): Int = {
    val counter = newCounter()
    place(counter, None, count)
    counter
  }

  /** Adds a counter that is at least as high as all others, and answers its number. */
  def append(count: Long): Int = {
    val counter = newCounter()
    place(counter, buckets.highest, count)
    counter
  }

  def increase(counter: Int, weight: Long): Unit = {
    val bucket = bucketOf(counter)
    val count = buckets.count(bucket) + weight
    val next = buckets.next(bucket)
    val alone = after(counter) == None && before(counter) == None
    if (alone && (next == None || buckets.count(next) > count)) buckets.setCount(bucket, count)
    else {
      leave(counter)
      place(counter, bucket, count)
      if (buckets.first(bucket) == None) buckets.remove(bucket)
    }
  }

  private def newCounter(): Int = {
    if (size == bucketOf.length) grow()
    size += 1
    size - 1
  }

  private def grow(): Unit = {
    val length = Growth.next(size, capacity)
    bucketOf = Arrays.copyOf(bucketOf, length)
    after = Arrays.copyOf(after, length)
    before = Arrays.copyOf(before, length)
    // One more: a counter that moves may need a new bucket before its old one is given up.
    buckets = buckets.resized(length + 1)
  }

  /** Hangs a counter in the bucket of its count, looking from a bucket that is not higher. */
  private def place(counter: Int, from: Int, count: Long): Unit = {
    var bucket = from
    var next = if (bucket == None) buckets.lowest else buckets.next(bucket)
    while (next != None && buckets.count(next) <= count) {
      bucket = next
      next = buckets.next(bucket)
    }
    if (bucket == None || buckets.count(bucket) != count)
      bucket = buckets.insertAfter(bucket, count)
    val head = buckets.first(bucket)
    after(counter) = head
    before(counter) = None
    if (head != None) before(head) = counter
    buckets.setFirst(bucket, counter)
    bucketOf(counter) = bucket
  }

  private def leave(counter: Int): Unit = {
    val (left, right) = (before(counter), after(counter))
    if (left != None) after(left) = right else buckets.setFirst(bucketOf(counter), right)
    if (right != None) before(right) = left
  }
}

private[sketch] object StreamSummary {

  /** No bucket, or no counter. */
  final val None = -1
}
