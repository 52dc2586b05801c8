package io.keyroute.bench

import java.lang.management.ManagementFactory

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.LongsSketch

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotPairCounts}

/** What [[SpaceSavingBench]] measures, in CPU time of the thread: for a machine that is not quiet, where
  * JMH's wall time tells nothing. The best of several passes over a stream, in turns; a table in Markdown.
  *
  * `./sbt "bench/runMain io.keyroute.bench.SketchSpeed"` */
object SketchSpeed {
  private val Passes = 25
  private val threads = ManagementFactory.getThreadMXBean

  def main(args: Array[String]): Unit = {
    println(
      "| counters | keyroute, key | keyroute, pair | matrix of slots | DataSketches | stream-lib |"
    )
    println("|---|---|---|---|---|---|")
    Seq(1000, 30000).foreach { counters =>
      val stream = ZipfStream(1 << 20, counters * 10, 1.0)
      val keys = new LongSpaceSaving(counters)
      val pairs = new PairSpaceSaving(counters)
      val cells = new SlotPairCounts(65536)
      val longs = new LongsSketch(Competitors.mapSizeFor(counters))
      val lib = new StreamSummary[java.lang.Long](counters)
      val updates = Seq[Update](
        key => keys.offer(key),
        key => pairs.offer(key, ~key),
        key => cells.add((key >>> 54).toInt, (~key >>> 54).toInt),
        key => longs.update(key),
        key => lib.offer(key): Unit
      )
      val nanos = Seq.fill(Passes)(updates.map(cpuTime(stream, _))).transpose.map(_.min)
      println(s"| $counters | ${nanos.map(n => f"$n%.0f ns").mkString(" | ")} |")
    }
  }

  /** Of one update. */
  private def cpuTime(stream: Array[Long], update: Update): Double = {
    val began = threads.getCurrentThreadCpuTime
    var i = 0
    while (i < stream.length) {
      update(stream(i))
      i += 1
    }
    (threads.getCurrentThreadCpuTime - began).toDouble / stream.length
  }

  /** Not a function, which would box the keys. */
  private trait Update {
    def apply(key: Long): Unit
  }
}
