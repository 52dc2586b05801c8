package org.apache.spark.sql.keyroute.handoff

import scala.collection.mutable

import org.apache.spark.sql.functions.{
  col,
  count,
  date_trunc,
  expr,
  lit,
  session_window,
  sum,
  window
}
import org.apache.spark.sql.{Column, DataFrame, Dataset}

/** Queries that forget, by event time or the clock, while keys come and go. Their feed leaves out each
  * key in two of six batches; its times are whole minutes, one a batch, so that no row is late. */
object TimedWorkloads {

  /** Of batch n all rows have the minute n, from one o'clock on: rows at the epoch would be late. */
  private val minute: Column = date_trunc("minute", col("ts")) + expr("INTERVAL 1 HOUR")

  def some(in: Dataset[Event]): DataFrame =
    in.filter(col("v") % 3 =!= 0).withColumn("ts", minute)

  /** A model over the same feed. */
  abstract class TimedModel(delaySeconds: Long) extends Model {
    private var number = -1L

    /** Event time of the batch's rows, in seconds. */
    protected def now: Long = 3600 + 60 * number

    /** Of the batch, in seconds: what the batches before have seen. */
    protected def watermark: Long = if (number == 0) 0L else now - 60 - delaySeconds

    override final def apply(events: Seq[Event]): Seq[String] = {
      number += 1
      step(events.filter(_.v % 3 != 0))
    }

    protected def step(events: Seq[Event]): Seq[String]
  }

  val withinWatermark: Workload = Workload(
    "dropDuplicatesWithinWatermark",
    "append",
    rocksDbOnly = false,
    some(_).withWatermark("ts", "20 seconds").dropDuplicatesWithinWatermark("k").select("k"),
    () =>
      new TimedModel(20) {
        private val expiry = mutable.Map.empty[String, Long]
        override def stateRows: Long = expiry.size.toLong

        override protected def step(events: Seq[Event]): Seq[String] = {
          val fresh = events.map(_.k).distinct.filterNot(expiry.contains)
          fresh.foreach(expiry(_) = now + 20)
          expiry.filterInPlace((_, end) => end > watermark)
          fresh.map(k => s"[$k]")
        }
      }
  )

  /** Sessions of a key end where it is away for two batches. */
  def sessions(mode: String, mergedEarly: Boolean): Workload = Workload(
    s"session windows, $mode" + (if (mergedEarly) ", merged before the exchange" else ""),
    mode,
    rocksDbOnly = false,
    some(_).withWatermark("ts", "0 seconds")
      .groupBy(session_window(col("ts"), "90 seconds").as("session"), col("k"))
      .agg(count("*").as("n"))
      .select(
        col("k"),
        col("session.start").cast("long"),
        col("session.end").cast("long"),
        col("n")
      ),
    () =>
      new TimedModel(0) {
        private var open = Seq.empty[Session]
        override def stateRows: Long = open.size.toLong

        override protected def step(events: Seq[Event]): Seq[String] = {
          events.groupBy(_.k).foreach { case (k, rows) =>
            val (before, others) = open.partition(s => s.k == k && s.end >= now)
            val start = before.map(_.start).minOption.getOrElse(now)
            val n = before.map(_.n).sum + rows.size
            open = others :+ Session(k, start, now + 90, n)
          }
          val all = open
          if (mode == "append") open = open.filter(_.end > watermark)
          val told = if (mode == "append") all.filterNot(open.contains) else all
          told.map(s => s"[${s.k},${s.start},${s.end},${s.n}]")
        }
      },
    settings = Map(
      "spark.sql.streaming.sessionWindow.merge.sessions.in.local.partition" -> s"$mergedEarly"
    )
  )

  private final case class Session(k: String, start: Long, end: Long, n: Int)

  /** Windows of three batches, each told, or forgotten, in the second batch after it.
    *
    * @param slide
    *   in seconds, how far apart they begin; 180: they do not overlap
    */
  def windows(mode: String, slide: Int = 180): Workload = Workload(
    s"${if (slide == 180) "windows" else "sliding windows"} that end, $mode",
    mode,
    rocksDbOnly = false,
    some(_).withWatermark("ts", "0 seconds")
      .groupBy(window(col("ts"), "180 seconds", s"$slide seconds").as("w"), col("k"))
      .agg(sum("v").as("s"))
      .select(col("w.start").cast("long"), col("k"), col("s")),
    () =>
      new TimedModel(0) {
        private var open = Map.empty[(Long, String), Long]
        override def stateRows: Long = open.size.toLong

        override protected def step(events: Seq[Event]): Seq[String] = {
          val starts = Range.Long(now / slide * slide, now - 180, -slide.toLong)
          val touched = for (start <- starts; k <- events.map(_.k).distinct) yield (start, k)
          for (e <- events; start <- starts)
            open += (start, e.k) -> (open.getOrElse((start, e.k), 0L) + e.v)
          val (gone, left) = open.partition { case ((start, _), _) => start + 180 <= watermark }
          val told = mode match {
            case "append" => gone
            case "update" => touched.map(key => key -> open(key)).toMap
            case "complete" => open
          }
          if (mode != "complete") open = left
          told.toSeq.map { case ((start, k), s) => s"[$start,$k,$s]" }
        }
      }
  )

  /** New keys, until there are seventy. */
  val limited: Workload = Workload(
    "dropDuplicates under a limit",
    "append",
    rocksDbOnly = false,
    Workloads.deduplication.query(_).limit(70).select(lit("row")),
    () => {
      val model = Workloads.deduplication.model()
      var left = 70
      events => {
        val rows = math.min(left, model(events).size)
        left -= rows
        Seq.fill(rows)("[row]")
      }
    }
  )

  /** All columns are the key. */
  val distinct: Workload = Workloads.deduplication.copy(
    name = "distinct",
    query = _.selectExpr("if(v % 6 = 0, concat(k, '-', v), k) as k").distinct()
  )

  /** All of it in each batch. */
  val complete: Workload = Workloads.aggregation.copy(
    name = "aggregation, complete",
    mode = "complete",
    model = () => {
      val totals = mutable.Map.empty[String, (Long, Long)].withDefaultValue((0L, 0L))
      events => {
        events.foreach(e => totals(e.k) = (totals(e.k)._1 + 1, totals(e.k)._2 + e.v))
        totals.toSeq.map { case (k, (n, s)) => s"[$k,$n,$s]" }
      }
    }
  )
}
