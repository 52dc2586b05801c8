package org.apache.spark.sql.keyroute.route

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{col, expr, timestamp_seconds}

/** Stream-stream joins of two streams under a random table: equal to plain Spark, batch by batch,
  * whatever way the sides come. Spark's hash agrees for both sides; so must a table. */
class JoinRoutesSuite extends AnyFunSuite {
  import StreamingTest._

  // The sides' keys overlap by half; each side has no rows in one batch.
  private val feeds: Seq[Seq[Seq[Event]]] = (0 until 4).map { b =>
    Seq(if (b == 1) Nil else events(b), if (b == 2) Nil else events(b + 1))
  }
  // Four stores a partition: of RocksDB's they take their time.
  private val hdfs =
    Map("spark.sql.streaming.stateStore.providerClass" -> StateProviders.HDFSBacked)

  private def sameAsSpark(query: (DataFrame, DataFrame) => DataFrame): Run = {
    val ask = (s: Seq[DataFrame]) => query(s.head, s(1).toDF("kk", "vv"))
    val plain = streamed("none", feeds, settings = hdfs)(ask)
    val random = streamed("random", feeds, settings = hdfs)(ask)
    assert(plain.rows.nonEmpty && random.batches == plain.batches)
    val routed = random.nodes { case e: RoutedExchangeExec => e }
    assert(routed.map(_.version).toSet == Set(1L))
    random
  }

  private def lastGroups: Seq[PlannedGroup] =
    RandomTables.decided.toArray(Array.empty[PlannedBatch]).last.groups

  private def timed(frame: DataFrame, time: String, from: String): DataFrame =
    frame.withColumn(time, timestamp_seconds(col(from)))

  test("inner join: both sides are one group") {
    sameAsSpark((l, r) => l.join(r, expr("k = kk")))
    assert(lastGroups.size == 1 && lastGroups.head.unroutable.isEmpty)
  }

  test("keys that are computed, and cast to a common type") {
    sameAsSpark((l, r) => l.join(r, expr("v % 100 = cast(vv % 100 as int)")))
    assert(lastGroups.map(_.keyTypes) == Seq(Seq("BIGINT")))
  }

  test("keys that are decimals, zeros of both signs and nulls") {
    sameAsSpark((l, r) =>
      l.join(r, expr("cast(v as decimal(12, 2)) = cast(vv as decimal(10, 0))"))
    )
    sameAsSpark((l, r) =>
      l.join(r, expr("if(v % 2 = 0, -0.0D, cast(v as double)) = if(vv % 2 = 0, 0.0D, vv)"))
    )
    sameAsSpark((l, r) => l.join(r, expr("if(v % 3 = 0, null, k) <=> if(vv % 3 = 0, null, kk)")))
  }

  test("4: only one side's time has a watermark: it stays a routing column on both") {
    sameAsSpark { (l, r) =>
      timed(l, "ts", "v").withWatermark("ts", "1 hour")
        .join(timed(r, "tts", "vv"), expr("k = kk and ts = tts"))
        .select("k", "v", "vv")
    }
    assert(lastGroups.map(_.routingOrdinals) == Seq(Seq(0, 1)))
    assert(!lastGroups.head.stableSlots)
  }

  test("an operator of the same key below, above, and another join") {
    sameAsSpark((l, r) => l.dropDuplicates("k").join(r, expr("k = kk")))
    sameAsSpark((l, r) => l.join(r, expr("k = kk")).dropDuplicates("k"))
    assert(lastGroups.map(_.operators.size) == Seq(2))
    sameAsSpark { (l, r) =>
      l.join(r, expr("k = kk")).join(r.toDF("k3", "v3").dropDuplicates("k3"), expr("k = k3"))
    }
    assert(lastGroups.map(_.operators.size) == Seq(3))
  }

  test("a join with a static table above it, and with itself") {
    sameAsSpark((l, r) => l.join(r, expr("k = kk")).join(static(120), "k"))
    sameAsSpark((l, _) => l.as("a").join(l.as("b"), expr("a.k = b.k")))
  }
}
