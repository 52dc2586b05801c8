package io.keyroute.bench

import java.lang.management.ManagementFactory

import com.clearspring.analytics.stream.StreamSummary
import org.apache.datasketches.frequencies.LongsSketch

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving, SlotPairCounts}

/** What [[SpaceSavingBench]] measures, in CPU time of the thread: for a machine that is not quiet, where
  * JMH's wall time tells nothing. The best of several passes over a stream, in turns; a table in Markdown.
  * Where a folder is given, its files are streams, too.
  *
  * `./sbt "bench/runMain io.keyroute.bench.SketchSpeed [FOLDER]"` */
object SketchSpeed {
  private val Passes = 25
  private val threads = ManagementFactory.getThreadMXBean

  def main(args: Array[String]): Unit = {
    println("| stream | counters | keyroute, key | keyroute, pair | matrix of slots | " +
      "DataSketches | stream-lib |")
    println("|---|---|---|---|---|---|---|")
    val made = Seq("Zipf 0.8", "Zipf 1.0", "Zipf 1.2", "Zipf 1.5")
    for {
      name <- made ++ args.headOption.toSeq.flatMap(PairStream.files)
      counters <- Seq(1000, 30000)
    } {
      val stream = PairStream(name, 1 << 20, counters * 10)
      val keys = new LongSpaceSaving(counters)
      val pairs = new PairSpaceSaving(counters)
      val cells = new SlotPairCounts(65536)
      val longs = new LongsSketch(Competitors.mapSizeFor(counters))
      val lib = new StreamSummary[java.lang.Long](counters)
      val updates = Seq[Update](
        (left, _) => keys.offer(left),
        (left, right) => pairs.offer(left, right),
        (left, right) => cells.add((left >>> 54).toInt, (right >>> 54).toInt),
        (left, _) => longs.update(left),
        (left, _) => lib.offer(left): Unit
      )
      val nanos = Seq.fill(Passes)(updates.map(cpuTime(stream, _))).transpose.map(_.min)
      println(
        s"| ${stream.name} | $counters | ${nanos.map(n => f"$n%.0f ns").mkString(" | ")} |"
      )
    }
  }

  /** Of one update. */
  private def cpuTime(stream: PairStream, update: Update): Double = {
    val began = threads.getCurrentThreadCpuTime
    var i = 0
    while (i < stream.length) {
      update(stream.left(i), stream.right(i))
      i += 1
    }
    (threads.getCurrentThreadCpuTime - began).toDouble / stream.length
  }

  /** Not a function, which would box the keys. */
  private trait Update {
    def apply(left: Long, right: Long): Unit
  }
}
