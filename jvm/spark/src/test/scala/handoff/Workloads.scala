package org.apache.spark.sql.keyroute.handoff

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.functions.{col, count, sum, window}
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.{DataFrame, Dataset}

/** @param v
  *   also its event time, in seconds */
final case class Event(k: String, v: Long, ts: Timestamp)

final case class KeyTotals(k: String, rows: Long, kinds: Long, kindRows: Long, listSum: Long)

/** A query, and what it must give: the rows of each batch, by plain Scala from the events so far.
  *
  * @param model
  *   made anew for a query; called once a batch, in order
  * @param variables
  *   of `transformWithState`, whose state is to be looked at
  * @param settings
  *   of the session that starts the query
  */
final case class Workload(
    name: String,
    mode: String,
    rocksDbOnly: Boolean,
    query: Dataset[Event] => DataFrame,
    model: () => Seq[Event] => Seq[String],
    variables: Seq[Option[String]] = Seq(None),
    settings: Map[String, String] = Map.empty
)

/** Also knows how many rows of state are left after each batch. */
trait Model extends (Seq[Event] => Seq[String]) {
  def stateRows: Long
}

object Workloads {
  val Keys: Seq[String] = (0 until 60).map(i => s"key-$i")

  /** 120 rows, two of each key, times that go on by a minute a batch. */
  def batch(number: Int): Seq[Event] = (0 until 120).map { i =>
    val v = number * 60L + i / 2
    Event(Keys((i * 7 + number * 13) % Keys.size), v, new Timestamp(v * 1000))
  }

  val aggregation: Workload = Workload(
    "aggregation",
    "update",
    rocksDbOnly = false,
    _.groupBy("k").agg(count("*").as("n"), sum("v").as("s")).toDF(),
    () => {
      val totals = mutable.Map.empty[String, (Long, Long)].withDefaultValue((0L, 0L))
      events => {
        events.foreach(e => totals(e.k) = (totals(e.k)._1 + 1, totals(e.k)._2 + e.v))
        events.map(_.k).distinct.map(k => s"[$k,${totals(k)._1},${totals(k)._2}]")
      }
    }
  )

  /** [[aggregation]] by a column of another name. */
  val renamed: Workload =
    aggregation.copy(query =
      _.groupBy(col("k").as("another")).agg(count("*").as("n"), sum("v").as("s")).toDF()
    )

  val windowed: Workload = Workload(
    "windowed aggregation",
    "update",
    rocksDbOnly = false,
    _.withWatermark("ts", "1 hour").groupBy(window(col("ts"), "5 minutes"), col("k"))
      .agg(count("*").as("n")).select(col("window.start").cast("long"), col("k"), col("n")),
    () => {
      val totals = mutable.Map.empty[(Long, String), Long].withDefaultValue(0L)
      def key(e: Event) = (e.v / 300 * 300, e.k)
      events => {
        events.foreach(e => totals(key(e)) += 1)
        events.map(key).distinct.map(k => s"[${k._1},${k._2},${totals(k)}]")
      }
    }
  )

  /** [[aggregation]] whose tasks fail once where [[FailOnce]] says so. */
  val failing: Workload = aggregation.copy(
    name = "aggregation with a task that fails",
    query = in => aggregation.query(in.filter { e: Event => FailOnce.pass(e) })
  )

  /** A sixth of the rows of each batch have new keys. */
  val deduplication: Workload = Workload(
    "dropDuplicates",
    "append",
    rocksDbOnly = false,
    in => in.selectExpr("if(v % 6 = 0, concat(k, '-', v), k) as k").dropDuplicates("k"),
    () => {
      val seen = mutable.Set.empty[String]
      events =>
        events.map(e => if (e.v % 6 == 0) s"${e.k}-${e.v}" else e.k).filter(seen.add)
          .map(k => s"[$k]")
    }
  )

  def transformWithState(spark: SparkSession): Workload =
    Workload(
      "transformWithState",
      "update",
      rocksDbOnly = true,
      in => {
        import spark.implicits._
        in.groupByKey(_.k).transformWithState(
          new Totals,
          TimeMode.ProcessingTime(),
          OutputMode.Update()
        ).toDF()
      },
      () => {
        val all = mutable.Map.empty[String, Seq[Long]].withDefaultValue(Nil)
        events => {
          events.foreach(e => all(e.k) = all(e.k) :+ e.v)
          events.map(_.k).distinct.map { k =>
            val vs = all(k)
            s"[$k,${vs.size},${vs.map(_ % 3).distinct.size},${vs.size},${vs.sum}]"
          }
        }
      },
      variables = Seq("rows", "kinds", "list", "aging").map(Some(_))
    )
}

/** Fails a task's first attempt, where it is told to. */
object FailOnce {
  @volatile var armed: Boolean = false

  def pass(event: Event): Boolean = {
    if (armed && org.apache.spark.TaskContext.get().attemptNumber() == 0) {
      armed = false
      throw new IllegalStateException(s"fails once, at ${event.k}")
    }
    true
  }
}

/** Keeps a value, a map, a list, a value with a time to live, and a timer that never fires. */
final class Totals extends StatefulProcessor[String, Event, KeyTotals] {
  @transient private var rows: ValueState[Long] = _
  @transient private var kinds: MapState[Long, Long] = _
  @transient private var list: ListState[Long] = _
  @transient private var aging: ValueState[Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val long = org.apache.spark.sql.Encoders.scalaLong
    rows = getHandle.getValueState("rows", long, TTLConfig.NONE)
    kinds = getHandle.getMapState("kinds", long, long, TTLConfig.NONE)
    list = getHandle.getListState("list", long, TTLConfig.NONE)
    aging = getHandle.getValueState("aging", long, TTLConfig(java.time.Duration.ofDays(1)))
  }

  override def handleInputRows(
      key: String,
      input: Iterator[Event],
      timers: TimerValues
  ): Iterator[KeyTotals] = {
    if (!rows.exists()) getHandle.registerTimer(timers.getCurrentProcessingTimeInMs() + 86400000L)
    // The timer must lie where its key lies.
    require(getHandle.listTimers().size == 1, s"timers of $key")
    require(aging.exists() == rows.exists(), s"time to live of $key")
    val vs = input.map(_.v).toSeq
    rows.update((if (rows.exists()) rows.get() else 0L) + vs.size)
    aging.update(rows.get())
    vs.foreach { v =>
      val kind = v % 3
      kinds.updateValue(kind, (if (kinds.containsKey(kind)) kinds.getValue(kind) else 0L) + 1)
      list.appendValue(v)
    }
    val entries = kinds.iterator().toSeq
    Iterator.single(KeyTotals(
      key,
      rows.get(),
      entries.size.toLong,
      entries.map(_._2).sum,
      list.get().sum
    ))
  }
}
