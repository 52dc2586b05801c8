package org.apache.spark.sql.keyroute.count

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, count, expr, lit, timestamp_seconds}
import org.apache.spark.sql.keyroute.route.{KeyHash, OperatorsSuite, RowRouter, StreamingTest}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.StringType
import org.apache.spark.unsafe.types.UTF8String

/** How the key that routed a row to the upstream operator is found. */
class UpstreamKeySuite extends CountingTest {
  import StreamingTest._

  test("the attribute is followed through its other names") {
    val (_, counts) = counted() { frame =>
      frame.dropDuplicates("k").select(col("k").as("other"), (col("v") % 10).as("w"))
        .dropDuplicates("other", "w")
    }
    assert(counts.filter(_.getGroup == 0L).map(_.getUpstreamKey).toSet == Set("attribute"))
  }

  test("the upstream key of a right outer join is the one that is never null") {
    val (_, counts) = counted(mode = OutputMode.Append()) { frame =>
      def side(key: String, time: String) = frame
        .select(col("k").as(key), timestamp_seconds(col("v") + 1).as(time)) // 0 is late
        .withWatermark(time, "1 hour")
      side("lk", "lts").join(
        side("rk", "rts"),
        expr("lk = rk and lts >= rts and lts <= rts + interval 1 hour"),
        "right_outer"
      ).select("rk", "rts").dropDuplicates("rk", "rts")
    }
    val (downstream, upstream) = counts.partition(_.getGroup == 0L)
    assert(downstream.map(_.getUpstreamKey).toSet == Set("attribute"))
    assert(downstream.flatMap(_.getPairs.getUpstreamList.asScala).toSet ==
      upstream.flatMap(_.getKeys.getFingerprintsList.asScala).toSet)
  }

  test("the upstream key of a full outer join is the left one, or else the right one") {
    val (run, counts) = counted(mode = OutputMode.Append()) { frame =>
      def side(key: String, time: String, rest: String) = frame.filter(rest)
        .select(col("k").as(key), timestamp_seconds(col("v") + 1).as(time)) // 0 is late
        .withWatermark(time, "0 seconds")
      side("lk", "lts", "v div 7 % 3 <> 0").join(
        side("rk", "rts", "v div 7 % 3 <> 1"),
        expr("lk = rk and lts >= rts and lts <= rts + interval 1 second"),
        "full_outer"
      ).select("lk", "rk").dropDuplicates("lk", "rk")
    }
    val keys = run.rows.map(_.drop(1).dropRight(1).split(','))
    val (left, right) = (keys.count(_(1) == "null"), keys.count(_(0) == "null"))
    assert(left > 20 && right > 20 && keys.size > left + right + 20)
    val fingerprints = keys.map(key => if (key(0) == "null") key(1) else key(0)).map { k =>
      val router = new RowRouter(KeyHash.ofKeyRow(Seq(StringType), Seq(0)))
      router.take(InternalRow(UTF8String.fromString(k)))
      router.fingerprint
    }
    val down = counts.filter(_.getGroup == 0L)
    assert(down.map(_.getUpstreamKey).toSet == Set("attribute"))
    assert(down.flatMap(_.getPairs.getUpstreamList.asScala.map(_.longValue)).toSet ==
      fingerprints.toSet)
  }

  test("the upstream key of transformWithState is found by name, else by the setting") {
    val renamed = (frame: DataFrame) => numbered(frame).withColumnRenamed("k", "value")
    val (_, byName) = counted()(renamed(_).dropDuplicates("value", "v"))
    assert(byName.filter(_.getGroup == 0L).map(_.getUpstreamKey).toSet == Set("name"))
    val setting = Map("spark.keyroute.statistics.upstreamKey" -> "k")
    val (_, bySetting) = counted(setting)(numbered(_).dropDuplicates("k", "v"))
    val (down, up) = bySetting.partition(_.getGroup == 0L)
    assert(down.map(_.getUpstreamKey).toSet == Set("setting"))
    assert(down.flatMap(_.getPairs.getUpstreamList.asScala).toSet ==
      up.flatMap(_.getKeys.getFingerprintsList.asScala).toSet)
    val (_, none) = counted()(numbered(_).groupBy("v").agg(count(lit(1))))
    assert(none.map(_.getUpstreamGroup).toSet == Set(-1L) && !none.exists(_.hasPairs))
  }

  test("the user's word for the upstream key goes before its name") {
    val renamed = (frame: DataFrame) => numbered(frame).withColumnRenamed("k", "value")
    val setting = Map("spark.keyroute.statistics.upstreamKey" -> "other")
    val (_, counts) = counted(setting)(
      renamed(_).withColumn("other", col("value")).dropDuplicates("value", "v")
    )
    assert(counts.filter(_.getGroup == 0L).map(_.getUpstreamKey).toSet == Set("setting"))
  }

  private def numbered(frame: DataFrame): DataFrame = {
    import spark.implicits._
    frame.select("k", "v").as[Event].groupByKey(_.k)
      .transformWithState(new OperatorsSuite.Counting, TimeMode.None(), OutputMode.Update()).toDF()
  }
}
