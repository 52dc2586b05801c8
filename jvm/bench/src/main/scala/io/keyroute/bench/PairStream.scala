package io.keyroute.bench

import java.nio.file.{Files, Path, Paths}

import scala.io.Source
import scala.jdk.CollectionConverters._
import scala.util.hashing.MurmurHash3

/** Pairs of keys, one after another: two arrays of one length.
  *
  * @param name
  *   for people
  */
final class PairStream(val name: String, val left: Array[Long], val right: Array[Long]) {
  def length: Int = left.length
  def keys: Array[Key] = left.map(Key(_, 0))
  def pairs: Array[Key] = left.zip(right).map { case (l, r) => Key(l, r) }
}

object PairStream {
  private val Zipf = "Zipf "

  /** `Zipf EXPONENT`, or the file of a real stream: a CSV of two columns with a header line.
    *
    * @param rows,distinct
    *   of a stream by Zipf's law, in which each key has one partner
    */
  def apply(name: String, rows: Int, distinct: Int): PairStream =
    if (name.startsWith(Zipf)) {
      val keys = ZipfStream(rows, distinct, name.stripPrefix(Zipf).toDouble)
      new PairStream(name, keys, keys.map(~_))
    } else read(Paths.get(name))

  /** Files of real streams, by name. */
  def files(folder: String): Seq[String] = {
    val all = Files.list(Paths.get(folder))
    try all.iterator.asScala.map(_.toString).filter(_.endsWith(".csv")).toSeq.sorted
    finally all.close()
  }

  private def read(file: Path): PairStream = {
    val source = Source.fromFile(file.toFile, "UTF-8")
    try {
      val ends = source.getLines().drop(1).map(_.split(',')).map(c => (hash(c(0)), hash(c(1))))
      val (left, right) = ends.toArray.unzip
      new PairStream(file.getFileName.toString.stripSuffix(".csv"), left, right)
    } finally source.close()
  }

  private def hash(text: String): Long =
    (MurmurHash3.stringHash(text).toLong << 32) | (MurmurHash3.stringHash(text, 7) & 0xffffffffL)
}
