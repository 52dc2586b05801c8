package io.keyroute.bench

import scala.collection.mutable

/** How many of the truly heaviest keys each counter finds in the same memory: on streams by Zipf's
  * law and, where a folder is given, on the pairs of its files. Writes a table in Markdown.
  *
  * `./sbt "bench/runMain io.keyroute.bench.SketchRecall [FOLDER]"` */
object SketchRecall {
  private val Rows = 2000000
  private val Distinct = 1000000
  private val Tops = Seq(100, 1000, 10000)

  // What the map of DataSketches takes, which is a power of two: the others get as much.
  private val Budgets = Seq(4096L * 18, 131072L * 18)

  def main(args: Array[String]): Unit = {
    println("| stream | bytes | counter | counters | measured | top 100 | top 1,000 | top 10,000 |")
    println("|---|---|---|---|---|---|---|---|")
    Seq(0.8, 1.0, 1.2, 1.5).foreach { exponent =>
      val stream = PairStream(s"Zipf $exponent", Rows, Distinct)
      compare(stream.name, stream.keys, Competitors.keys)
    }
    args.headOption.toSeq.flatMap(PairStream.files).foreach { file =>
      val stream = PairStream(file, Rows, Distinct)
      compare(stream.name, stream.pairs, Competitors.pairs)
    }
  }

  private def compare(name: String, stream: Array[Key], of: Long => Seq[Counter]): Unit = {
    val truth = mutable.HashMap.empty[Key, Long].withDefaultValue(0L)
    stream.foreach(key => truth(key) += 1)
    val counts = truth.values.toArray.sorted(Ordering[Long].reverse)
    for (budget <- Budgets; counter <- of(budget)) {
      stream.foreach(counter.offer)
      val heaviest = counter.heaviest
      val recalls = Tops.map { top =>
        // Of keys as heavy as the last of the top, any will do.
        if (top > counts.length) "-"
        else f"${heaviest.take(top).count(truth(_) >= counts(top - 1)) * 100.0 / top}%.1f"
      }
      println(s"| $name | $budget | ${counter.name} | ${counter.capacity} | ${counter.bytes} | " +
        s"${recalls.mkString(" | ")} |")
    }
  }
}
