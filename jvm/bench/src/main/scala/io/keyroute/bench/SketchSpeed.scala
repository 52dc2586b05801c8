package io.keyroute.bench

import java.lang.management.ManagementFactory

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.LongsSketch

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotPairCounts}

/** What [[SpaceSavingBench]] measures, in CPU time of the thread: for a machine that is not quiet, where
  * JMH's wall time tells nothing. The best of several passes over a stream; a table in Markdown.
  *
  * `./sbt "bench/runMain io.keyroute.bench.SketchSpeed"` */
object SketchSpeed {
  private val Passes = 9
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
      val nanos = Seq(
        best(stream)(key => keys.offer(key)),
        best(stream)(key => pairs.offer(key, ~key)),
        best(stream)(key => cells.add((key >>> 54).toInt, (~key >>> 54).toInt)),
        best(stream)(key => longs.update(key)),
        best(stream)(key => lib.offer(key): Unit)
      )
      println(s"| $counters | ${nanos.map(n => f"$n%.0f ns").mkString(" | ")} |")
    }
  }

  private def best(stream: Array[Long])(update: Long => Unit): Double =
    Seq.fill(Passes) {
      val began = threads.getCurrentThreadCpuTime
      stream.foreach(update)
      (threads.getCurrentThreadCpuTime - began).toDouble / stream.length
    }.min
}
