package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.Encoders
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming._

/** `transformWithState` whose timers fire, with and without an initial state, and whose state ends. */
final class ProcessorWorkloads(spark: SparkSession) {
  import GroupModels.Initial
  import spark.implicits._

  def clock: Workload = Workload(
    "transformWithState, processing-time timers",
    "update",
    rocksDbOnly = true,
    TimedWorkloads.some(_).as[Event].groupByKey(_.k)
      .transformWithState(new Ending, TimeMode.ProcessingTime(), OutputMode.Update()).toDF(),
    () => new ClockModel,
    variables = Seq(Some("seen"))
  )

  def initial: Workload = Workload(
    "transformWithState with an initial state, event-time timers",
    "update",
    rocksDbOnly = true,
    TimedWorkloads.some(_).withWatermark("ts", "0 seconds").as[Event].groupByKey(_.k)
      .transformWithState(
        new EndingWithInitialState,
        TimeMode.EventTime(),
        OutputMode.Update(),
        spark.createDataset(Initial).groupByKey(_._1).mapValues(_._2)
      ).toDF(),
    () => new EventTimeModel(Initial, asked = false),
    variables = Seq(Some("seen"))
  )

  /** A value, a list and a map live until the next batch. A key that has no rows then must lose them
    * all the same, and it does by the index of what ends when. */
  def forgetting: Workload = Workload(
    "transformWithState, state that ends",
    "update",
    rocksDbOnly = true,
    TimedWorkloads.some(_).as[Event].groupByKey(_.k)
      .transformWithState(new Forgetting, TimeMode.ProcessingTime(), OutputMode.Update()).toDF(),
    () => new ForgettingModel,
    variables = Seq(Some("one"), Some("some"), Some("named"))
  )
}

/** Tells what it finds of a key, and keeps one of each kind until the next batch. */
final class Forgetting extends StatefulProcessor[String, Event, Told] {
  @transient private var one: ValueState[Long] = _
  @transient private var some: ListState[Long] = _
  @transient private var named: MapState[Long, Long] = _

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit = {
    val (long, brief) = (Encoders.scalaLong, TTLConfig(java.time.Duration.ofMillis(1)))
    one = getHandle.getValueState("one", long, brief)
    some = getHandle.getListState("some", long, brief)
    named = getHandle.getMapState("named", long, long, brief)
  }

  override def handleInputRows(
      key: String,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[Told] = {
    val found = (if (one.exists()) 1 else 0) + some.get().size + named.iterator().size
    val sum = rows.map(_.v).sum
    one.update(sum)
    some.put(Array(sum))
    named.updateValue(7, sum)
    Iterator.single(Told(key, found.toLong, sum, end = false))
  }
}

/** Keeps what it has seen of a group until the group's only timer. */
sealed trait EndingGroup extends StatefulProcessor[String, Event, Told] {
  @transient protected var seen: ValueState[Seen] = _

  /** When the group's timer is due, in ms. */
  protected def due(events: Seq[Event], timers: TimerValues): Long

  override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
    seen = getHandle.getValueState("seen", Encoders.product[Seen], TTLConfig.NONE)

  override def handleInputRows(
      key: String,
      rows: Iterator[Event],
      timers: TimerValues
  ): Iterator[Told] = {
    val events = rows.toSeq
    val now = (if (seen.exists()) seen.get() else Seen(0, 0)).and(events.map(_.v))
    seen.update(now)
    getHandle.listTimers().toList.foreach(getHandle.deleteTimer)
    getHandle.registerTimer(due(events, timers))
    Iterator.single(Told(key, now.rows, now.sum, end = false))
  }

  override def handleExpiredTimer(
      key: String,
      timers: TimerValues,
      timer: ExpiredTimerInfo
  ): Iterator[Told] = {
    val last = seen.get()
    seen.clear()
    Iterator.single(Told(key, last.rows, last.sum, end = true))
  }
}

/** Ends before the next batch starts. */
final class Ending extends EndingGroup {
  override protected def due(events: Seq[Event], timers: TimerValues): Long =
    timers.getCurrentProcessingTimeInMs() + 1
}

/** Ends half a minute after its last row. */
final class EndingWithInitialState
    extends StatefulProcessorWithInitialState[String, Event, Told, Seen] with EndingGroup {
  override protected def due(events: Seq[Event], timers: TimerValues): Long =
    events.map(_.ts.getTime).max + 30000

  override def handleInitialState(key: String, initial: Seen, timers: TimerValues): Unit =
    seen.update(initial)
}
