package org.apache.spark.sql.keyroute.handoff

import java.sql.Timestamp

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.streaming.{GroupState, GroupStateTimeout, OutputMode}
import org.apache.spark.sql.{Dataset, KeyValueGroupedDataset}

/** Arbitrary state by group, with each timeout, in both state formats, and with an initial state. */
final class GroupStateWorkloads(spark: SparkSession) {
  import GroupModels.Initial
  import GroupStateWorkloads._
  import spark.implicits._

  def map(version: Int): Workload = Workload(
    s"mapGroupsWithState, state format $version",
    "update",
    rocksDbOnly = false,
    TimedWorkloads.some(_).as[Event].groupByKey(_.k).mapGroupsWithState(add _).toDF(),
    () => new LastingModel,
    settings = format(version)
  )

  /** In state format 1 Spark itself refuses such timeouts: it keeps them as an int. */
  def clock: Workload = Workload(
    "flatMapGroupsWithState, processing-time timeout",
    "update",
    rocksDbOnly = false,
    TimedWorkloads.some(_).as[Event].groupByKey(_.k).flatMapGroupsWithState(
      OutputMode.Update(),
      GroupStateTimeout.ProcessingTimeTimeout()
    )(endedByClock _).toDF(),
    () => new ClockModel
  )

  def eventTime(version: Int): Workload = Workload(
    s"flatMapGroupsWithState, event-time timeout, state format $version",
    "update",
    rocksDbOnly = false,
    timed(_).flatMapGroupsWithState(
      OutputMode.Update(),
      GroupStateTimeout.EventTimeTimeout()
    )(endedInEventTime _).toDF(),
    () => new EventTimeModel(Nil, asked = false),
    settings = format(version)
  )

  def initial: Workload = Workload(
    "flatMapGroupsWithState with an initial state",
    "update",
    rocksDbOnly = false,
    timed(_).flatMapGroupsWithState(
      OutputMode.Update(),
      GroupStateTimeout.EventTimeTimeout(),
      spark.createDataset(Initial).groupByKey(_._1).mapValues(_._2)
    )(endedInEventTime _).toDF(),
    () => new EventTimeModel(Initial, asked = true)
  )

  /** Its key has an event time, which is marked as one in the stream, and not in the initial state. */
  def initialByTime: Workload = Workload(
    "mapGroupsWithState by event time with an initial state",
    "update",
    rocksDbOnly = false,
    in => {
      val start = Initial.map { case (k, seen) => GivenAt(new Timestamp(3600000L), k, seen) }
      TimedWorkloads.some(in).withWatermark("ts", "1 hour").groupBy("ts", "k")
        .as[(Timestamp, String), Event]
        .mapGroupsWithState(
          GroupStateTimeout.NoTimeout(),
          spark.createDataset(start).groupBy("ts", "k").as[(Timestamp, String), GivenAt]
            .mapValues(_.seen)
        )((key: (Timestamp, String), events: Iterator[Event], state: GroupState[Seen]) =>
          add(key._2, events, state)
        ).toDF()
    },
    () => new ByTimeModel(Initial.toMap)
  )

  private def timed(in: Dataset[Event]): KeyValueGroupedDataset[String, Event] =
    TimedWorkloads.some(in).withWatermark("ts", "0 seconds").as[Event].groupByKey(_.k)

  private def format(version: Int): Map[String, String] =
    Map("spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion" -> version.toString)
}

final case class GivenAt(ts: Timestamp, k: String, seen: Seen)

object GroupStateWorkloads {

  private def add(key: String, events: Iterator[Event], state: GroupState[Seen]): Told = {
    val seen = state.getOption.getOrElse(Seen(0, 0)).and(events.map(_.v).toSeq)
    state.update(seen)
    Told(key, seen.rows, seen.sum, end = false)
  }

  private def endedByClock(
      key: String,
      events: Iterator[Event],
      state: GroupState[Seen]
  ): Iterator[Told] = endedOr(key, state) {
    val told = add(key, events, state)
    state.setTimeoutDuration(1L) // over before the next batch starts
    told
  }

  private def endedInEventTime(
      key: String,
      events: Iterator[Event],
      state: GroupState[Seen]
  ): Iterator[Told] = endedOr(key, state) {
    val all = events.toSeq
    val told = add(key, all.iterator, state)
    all.map(_.ts.getTime).maxOption.foreach(t => state.setTimeoutTimestamp(t + 30000L))
    told
  }

  private def endedOr(key: String, state: GroupState[Seen])(told: => Told): Iterator[Told] =
    if (state.hasTimedOut) {
      val last = state.get
      state.remove()
      Iterator.single(Told(key, last.rows, last.sum, end = true))
    } else Iterator.single(told)
}
