package io.keyroute.bench

import java.util.concurrent.TimeUnit

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.LongsSketch
import org.openjdk.jmh.annotations._

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotPairCounts}

/** The update that each counted row pays. Keys by Zipf's law are ten times as many as the sketches
  * hold, so that they forget keys all the time; a real stream is the file of it, as
  * `-p stream=FILE.csv`. Beside them what Spark ships: frequent items of Apache DataSketches and
  * stream-lib's stream summary. */
@State(Scope.Thread)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
class SpaceSavingBench {

  @Param(Array("1000", "30000"))
  var counters: Int = _

  @Param(Array("Zipf 0.8", "Zipf 1.0", "Zipf 1.2", "Zipf 1.5"))
  var stream: String = _

  private var rows: PairStream = _
  private var keys: LongSpaceSaving = _
  private var pairs: PairSpaceSaving = _
  private var slotPairs: SlotPairCounts = _
  private var longs: LongsSketch = _
  private var summary: StreamSummary[java.lang.Long] = _
  private var next = 0

  @Setup
  def setUp(): Unit = {
    rows = PairStream(stream, 1 << 20, counters * 10)
    keys = new LongSpaceSaving(counters)
    pairs = new PairSpaceSaving(counters)
    slotPairs = new SlotPairCounts(65536)
    longs = new LongsSketch(Competitors.mapSizeFor(counters))
    summary = new StreamSummary(counters)
    (0 until rows.length).foreach { i =>
      val (left, right) = (rows.left(i), rows.right(i))
      keys.offer(left)
      pairs.offer(left, right)
      slotPairs.add(slot(left), slot(right))
      longs.update(left)
      summary.offer(left)
    }
  }

  @Benchmark
  def offerKey(): Long = {
    advance()
    keys.offer(rows.left(next))
    keys.rows
  }

  @Benchmark
  def offerPair(): Long = {
    advance()
    pairs.offer(rows.left(next), rows.right(next))
    pairs.rows
  }

  @Benchmark
  def addSlotPair(): Int = {
    advance()
    slotPairs.add(slot(rows.left(next)), slot(rows.right(next)))
    slotPairs.size
  }

  @Benchmark
  def dataSketches(): Long = {
    advance()
    longs.update(rows.left(next))
    longs.getStreamLength
  }

  @Benchmark
  def streamLib(): Boolean = {
    advance()
    summary.offer(rows.left(next))
  }

  private def slot(key: Long): Int = (key >>> 54).toInt

  private def advance(): Unit = {
    next += 1
    if (next == rows.length) next = 0
  }
}
