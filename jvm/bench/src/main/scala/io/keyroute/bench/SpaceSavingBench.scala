package io.keyroute.bench

import java.util.concurrent.TimeUnit

import scala.util.Random

import org.openjdk.jmh.annotations._

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}

/** The update that each counted row pays: keys by Zipf's law with exponent 1, ten times as many as
  * the sketches hold, so that they forget keys all the time. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class SpaceSavingBench {

  @Param(Array("1000", "30000"))
  var counters: Int = _

  private var stream: Array[Long] = _
  private var keys: LongSpaceSaving = _
  private var pairs: PairSpaceSaving = _
  private var next = 0

  @Setup
  def setUp(): Unit = {
    val random = new Random(7)
    val distinct = counters * 10
    val cumulated = (1 to distinct).scanLeft(0.0)((sum, rank) => sum + 1.0 / rank).toArray
    // Ranks are spread over all longs, as fingerprints are.
    stream = Array.fill(1 << 20) {
      val found = java.util.Arrays.binarySearch(cumulated, random.nextDouble() * cumulated.last)
      (if (found < 0) -found else found + 1) * 0x9e3779b97f4a7c15L
    }
    keys = new LongSpaceSaving(counters)
    pairs = new PairSpaceSaving(counters)
    stream.foreach { key =>
      keys.offer(key)
      pairs.offer(key, ~key)
    }
  }

  @Benchmark
  def offerKey(): Long = {
    val key = advance()
    keys.offer(key)
    keys.rows
  }

  @Benchmark
  def offerPair(): Long = {
    val key = advance()
    pairs.offer(key, ~key)
    pairs.rows
  }

  private def advance(): Long = {
    next = (next + 1) & (stream.length - 1)
    stream(next)
  }
}
