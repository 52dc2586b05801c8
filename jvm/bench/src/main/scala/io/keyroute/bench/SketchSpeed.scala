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
      val passes = Seq[() => Unit](
        () => stream.foreach(key => keys.offer(key)),
        () => stream.foreach(key => pairs.offer(key, ~key)),
        () => stream.foreach(key => cells.add((key >>> 54).toInt, (~key >>> 54).toInt)),
        () => stream.foreach(key => longs.update(key)),
        () => stream.foreach(key => lib.offer(key): Unit)
      )
      val nanos = Seq.fill(Passes)(passes.map(cpuTime(_) / stream.length)).transpose.map(_.min)
      println(s"| $counters | ${nanos.map(n => f"$n%.0f ns").mkString(" | ")} |")
    }
  }

  private def cpuTime(pass: () => Unit): Double = {
    val began = threads.getCurrentThreadCpuTime
    pass()
    (threads.getCurrentThreadCpuTime - began).toDouble
  }
}
