package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.functions.{col, expr, window}
import org.apache.spark.sql.{DataFrame, Dataset}

/** Joins of a stream with itself: some events are its left rows, some its right rows.
  *
  * @param format
  *   of the join's state
  */
final class JoinWorkloads(format: Int) {
  private val settings = Map(JoinWorkloads.Format -> format.toString)
  private val inRange = expr(
    "lk = rk and rts >= lts - interval 100500 milliseconds " +
      "and rts <= lts + interval 60500 milliseconds"
  )

  private def left(in: Dataset[Event]): DataFrame =
    in.filter("v % 4 < 2 and v div 4 % 3 != 0").withWatermark("ts", "0 seconds")
      .select(col("k").as("lk"), col("v").as("lv"), col("ts").as("lts"))

  private def right(in: Dataset[Event]): DataFrame =
    in.filter("v % 4 >= 2 and v div 4 % 5 != 0").withWatermark("ts", "0 seconds")
      .select(col("k").as("rk"), col("v").as("rv"), col("ts").as("rts"))

  /** On the key, and within a time: both sides are evicted by the watermark. */
  def of(kind: String): Workload = Workload(
    s"$kind join, state format $format",
    "append",
    rocksDbOnly = false,
    in => {
      val columns = if (kind == "left_semi") Seq("lk", "lv") else Seq("lk", "lv", "rv")
      left(in).join(right(in), inRange, kind).select(columns.map(col): _*)
    },
    () => new JoinModel(kind).step,
    settings = settings
  )

  /** On window and key: the window is no routing column. */
  val windowed: Workload = Workload(
    s"join of windows, state format $format",
    "append",
    rocksDbOnly = false,
    in => {
      val l = left(in).withColumn("lw", window(col("lts"), "180 seconds"))
      val r = right(in).withColumn("rw", window(col("rts"), "180 seconds"))
      l.join(r, expr("lw = rw and lk = rk")).select("lk", "lv", "rv")
    },
    () => new JoinModel("inner", JoinTimes.window).step,
    settings = settings
  )

  /** On keys that are equal by a collation only: one side writes them in its own way.
    *
    * @param written
    *   SQL of a right key from `rk`
    */
  def collated(collation: String, written: String): Workload = Workload(
    s"inner join by $collation, state format $format",
    "append",
    rocksDbOnly = false,
    in => {
      val l = left(in).withColumn("lk", expr(s"lk collate $collation"))
      val r = right(in).withColumn("rk", expr(s"if(rv % 8 < 6, rk, $written) collate $collation"))
      l.join(r, inRange).select("lk", "lv", "rv")
    },
    () => new JoinModel("inner").step,
    settings = settings
  )

  /** Without an exchange between the join and what follows it; one group. */
  val thenSameKey: Workload = Workload(
    s"join, then dropDuplicates on its key, state format $format",
    "append",
    rocksDbOnly = false,
    in => left(in).join(right(in), inRange).select("lk").dropDuplicates("lk"),
    () => {
      val (model, seen) = (new JoinModel("inner"), mutable.Set.empty[String])
      model.step(_).map(row => s"${row.takeWhile(_ != ',')}]").filter(seen.add)
    },
    settings = settings
  )

  /** Two groups. */
  val thenOtherKey: Workload = Workload(
    s"join, then dropDuplicates on another key, state format $format",
    "append",
    rocksDbOnly = false,
    in => left(in).join(right(in), inRange).select("lk", "lv").dropDuplicates("lv", "lk"),
    () => {
      val (model, seen) = (new JoinModel("inner"), mutable.Set.empty[String])
      model.step(_).map(row => s"${row.take(row.lastIndexOf(','))}]").filter(seen.add)
    },
    settings = settings
  )

  /** Two operators and a union below it; three groups. */
  val ofUnion: Workload = Workload(
    s"join of a union of dropDuplicates, state format $format",
    "append",
    rocksDbOnly = false,
    in => {
      def branch(rows: String) = left(in).filter(rows).dropDuplicates("lk")
      branch("lv % 8 < 4").union(branch("lv % 8 >= 4"))
        .join(right(in), inRange).select("lk", "lv", "rv")
    },
    () => new JoinModel("inner", pick = JoinModel.firsts(e => (e.k, e.v % 8 < 4))).step,
    settings = settings
  )
}

object JoinWorkloads {
  val Format = "spark.sql.streaming.join.stateFormatVersion"
}
