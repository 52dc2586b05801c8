package org.apache.spark.sql.keyroute.route

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, count, lit, sum, timestamp_seconds, window}
import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}

/** Each operator that is routed, under the empty table and a random one: equal to plain Spark, batch
  * by batch. */
class OperatorsSuite extends AnyFunSuite {
  import OperatorsSuite._
  import StreamingTest._

  private val feeds: Seq[Seq[Seq[Event]]] = (0 until 3).map(b => Seq(events(b)))
  private val update = OutputMode.Update()

  private def sameAsSpark(mode: OutputMode)(query: DataFrame => DataFrame): Run = {
    val plain = streamed("none", feeds, mode)(s => query(s.head))
    val empty = streamed("empty", feeds, mode)(s => query(s.head))
    val random = streamed("random", feeds, mode)(s => query(s.head))
    assert(plain.rows.nonEmpty)
    assert(empty.batches == plain.batches)
    assert(random.batches == plain.batches)
    assert(plain.nodes { case e: RoutedExchangeExec => e }.isEmpty)
    assert(empty.nodes { case e: RoutedExchangeExec => e.version }.toSet == Set(0L))
    assert(random.nodes { case e: RoutedExchangeExec => e.version }.toSet == Set(1L))
    random
  }

  test("aggregation") {
    sameAsSpark(update)(_.groupBy("k").agg(count(lit(1)), sum("v")))
  }

  test("aggregation over windows: the window is no routing column") {
    val random = sameAsSpark(OutputMode.Append()) {
      _.withColumn("ts", timestamp_seconds(col("v"))).withWatermark("ts", "1 second")
        .groupBy(window(col("ts"), "100 seconds"), col("k")).agg(sum("v"))
    }
    assert(random.nodes { case e: RoutedExchangeExec => e.metrics("rowsByTable").value }.sum > 0)
    val group = RandomTables.decided.toArray(Array.empty[PlannedBatch]).last.groups.head
    assert(group.keyNames == Seq("window", "k"))
    assert(group.routingOrdinals == Seq(1) && !group.stableSlots)
  }

  test("dropDuplicates") {
    sameAsSpark(OutputMode.Append())(_.dropDuplicates("k"))
    sameAsSpark(OutputMode.Append())(_.dropDuplicates("k", "v"))
  }

  test("dropDuplicatesWithinWatermark") {
    sameAsSpark(OutputMode.Append()) {
      _.withColumn("ts", timestamp_seconds(col("v"))).withWatermark("ts", "1 second")
        .dropDuplicatesWithinWatermark("k")
    }
  }

  test("chained transformWithState, and an aggregation of its output") {
    sameAsSpark(update)(counted)
    sameAsSpark(update)(frame => counted(counted(frame)))
    sameAsSpark(update)(counted(_).groupBy("v").agg(count(lit(1))))
  }

  private def counted(frame: DataFrame): DataFrame = {
    import spark.implicits._
    frame.select("k", "v").as[Event].groupByKey(_.k)
      .transformWithState(new Counting, TimeMode.None(), OutputMode.Update()).toDF()
  }
}

object OperatorsSuite {
  import StreamingTest.Event

  /** Passes on each event of a key with its number. */
  final class Counting extends StatefulProcessor[String, Event, Event] {
    @transient private var seen: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      seen = getHandle.getValueState[Long](
        "seen",
        org.apache.spark.sql.Encoders.scalaLong,
        TTLConfig.NONE
      )

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[Event] = {
      val before = if (seen.exists()) seen.get() else 0L
      val all = rows.toSeq
      seen.update(before + all.size)
      all.indices.iterator.map(i => Event(key, before + i + 1))
    }
  }
}
