package io.keyroute.bench

import scala.jdk.CollectionConverters._

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.{ErrorType, LongsSketch}

import org.apache.spark.util.SizeEstimator

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}

/** A counter of heavy keys that may have so many bytes of memory. */
trait Counter {
  def name: String

  /** A key of one long or, for those that count pairs, of two. */
  def offer(key: Key): Unit

  /** Counters it may hold. */
  def capacity: Int

  /** Keys it tells, those with the most rows that are surely theirs first. */
  def heaviest: Seq[Key]
  def bytes: Long
}

/** A key, or a pair of keys. */
final case class Key(left: Long, right: Long) {

  /** What those that count longs only are given: pairs that meet here are a wrong count. */
  def mixed: Long = if (right == 0) left else left * 0xc2b2ae3d27d4eb4fL ^ right
}

object Competitors {

  /** Entries of the hash map of DataSketches' frequent items, filled to three quarters. */
  def mapSizeFor(counters: Int): Int =
    math.max(8, Integer.highestOneBit(math.max(1, counters * 4 / 3 - 1)) * 2)

  def keys(budget: Long): Seq[Counter] = Seq(new Own(budget), new Frequent(budget), new Lib(budget))

  def pairs(budget: Long): Seq[Counter] =
    Seq(new OwnPairs(budget), new Frequent(budget), new Lib(budget))

  private final class Own(budget: Long) extends Counter {
    private val sketch = new LongSpaceSaving(LongSpaceSaving.capacityFor(budget))
    val name = "keyroute"
    def offer(key: Key): Unit = sketch.offer(key.left)
    def capacity: Int = sketch.capacity
    def heaviest: Seq[Key] = sketch.entries.sortBy(e => e.error - e.count).map(e => Key(e.key, 0))
    def bytes: Long = SizeEstimator.estimate(sketch)
  }

  private final class OwnPairs(budget: Long) extends Counter {
    private val sketch = new PairSpaceSaving(PairSpaceSaving.capacityFor(budget))
    val name = "keyroute"
    def offer(key: Key): Unit = sketch.offer(key.left, key.right)
    def capacity: Int = sketch.capacity
    def heaviest: Seq[Key] =
      sketch.entries.sortBy(e => e.error - e.count).map(e => Key(e.upstream, e.downstream))
    def bytes: Long = SizeEstimator.estimate(sketch)
  }

  /** Knows the keys that it has seen by what they are mixed to. */
  private abstract class Mixing extends Counter {
    protected def mixed: Seq[Long]
    private val keys = collection.mutable.LongMap.empty[Key]
    def offer(key: Key): Unit = {
      keys(key.mixed) = key
      update(key.mixed)
    }
    protected def update(key: Long): Unit
    def heaviest: Seq[Key] = mixed.map(keys(_))
  }

  private final class Frequent(budget: Long) extends Mixing {
    // 8 bytes of key, 8 of count and 2 of state an entry; a power of two.
    private val sketch = new LongsSketch(Integer.highestOneBit((budget / 18).toInt))
    val name = "DataSketches"
    protected def update(key: Long): Unit = sketch.update(key)
    def capacity: Int = sketch.getMaximumMapCapacity
    protected def mixed: Seq[Long] =
      sketch.getFrequentItems(0L, ErrorType.NO_FALSE_NEGATIVES).toSeq.map(_.getItem)
    def bytes: Long = SizeEstimator.estimate(sketch)
  }

  private final class Lib(budget: Long) extends Mixing {
    private val sketch =
      new StreamSummary[java.lang.Long](math.max(1, budget / Lib.CounterBytes).toInt)
    val name = "stream-lib"
    protected def update(key: Long): Unit = sketch.offer(key): Unit
    def capacity: Int = sketch.getCapacity
    protected def mixed: Seq[Long] = sketch.topK(sketch.size).asScala.toSeq.map(_.getItem.longValue)
    def bytes: Long = SizeEstimator.estimate(sketch)
  }

  private object Lib {

    /** As `SizeEstimator` measures a full one whose counts are equal; others take more. */
    lazy val CounterBytes: Long = {
      val full = new StreamSummary[java.lang.Long](1024)
      (0 until 1024).foreach(i => full.offer(i.toLong + (1L << 32)))
      SizeEstimator.estimate(full) / 1024
    }
  }
}
