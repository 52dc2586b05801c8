package io.keyroute.bench

import java.nio.file.{Files, Path, Paths}

import scala.collection.mutable
import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.hashing.MurmurHash3

/** How many of the truly heaviest keys each counter finds in the same memory: on streams by Zipf's
  * law and, where a folder is given, on the pairs of its files. A file is a CSV of two columns with a
  * header line. Writes a table in Markdown.
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
      val stream = ZipfStream(Rows, Distinct, exponent).map(Key(_, 0))
      compare(s"Zipf $exponent", stream, Competitors.keys)
    }
    args.headOption.toSeq.flatMap(folder => files(Paths.get(folder))).foreach { file =>
      compare(file.getFileName.toString.stripSuffix(".csv"), pairsOf(file), Competitors.pairs)
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

  private def files(folder: Path): Seq[Path] = {
    val all = Files.list(folder)
    try all.iterator.asScala.toSeq.filter(_.toString.endsWith(".csv")).sorted
    finally all.close()
  }

  private def pairsOf(file: Path): Array[Key] = {
    val source = Source.fromFile(file.toFile, "UTF-8")
    try source.getLines().drop(1).map(_.split(',')).map(c => Key(hash(c(0)), hash(c(1)))).toArray
    finally source.close()
  }

  private def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 7) & 0xffffffffL)
}
