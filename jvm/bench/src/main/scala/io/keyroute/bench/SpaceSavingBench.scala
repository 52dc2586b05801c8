package io.keyroute.bench

import java.util.concurrent.TimeUnit

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.LongsSketch
import org.openjdk.jmh.annotations._

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotPairCounts}

/** The update that each counted row pays: keys by Zipf's law with exponent 1, ten times as many as
  * the sketches hold, so that they forget keys all the time. Beside them what Spark ships: frequent
  * items of Apache DataSketches and stream-lib's stream summary. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class SpaceSavingBench {

  @Param(Array("1000", "30000"))
  var counters: Int = _

  private var stream: Array[Long] = _
  private var keys: LongSpaceSaving = _
  private var pairs: PairSpaceSaving = _
  private var slotPairs: SlotPairCounts = _
  private var longs: LongsSketch = _
  private var summary: StreamSummary[java.lang.Long] = _
  private var next = 0

  @Setup
  def setUp(): Unit = {
    stream = ZipfStream(1 << 20, counters * 10, 1.0)
    keys = new LongSpaceSaving(counters)
    pairs = new PairSpaceSaving(counters)
    slotPairs = new SlotPairCounts(65536)
    longs = new LongsSketch(Competitors.mapSizeFor(counters))
    summary = new StreamSummary(counters)
    stream.foreach { key =>
      keys.offer(key)
      pairs.offer(key, ~key)
      slotPairs.add(slot(key), slot(~key))
      longs.update(key)
      summary.offer(key)
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

  @Benchmark
  def addSlotPair(): Int = {
    val key = advance()
    slotPairs.add(slot(key), slot(~key))
    slotPairs.size
  }

  @Benchmark
  def dataSketches(): Long = {
    longs.update(advance())
    longs.getStreamLength
  }

  @Benchmark
  def streamLib(): Boolean = summary.offer(advance())

  private def slot(key: Long): Int = (key >>> 54).toInt

  private def advance(): Long = {
    next = (next + 1) & (stream.length - 1)
    stream(next)
  }
}
