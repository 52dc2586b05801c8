package org.apache.spark.sql.keyroute.count

import java.util.UUID
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import com.codahale.metrics.MetricRegistry
import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually.{eventually, interval, timeout}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.resource.ResourceInformation
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, count, expr, lit, timestamp_seconds, udf, window}
import org.apache.spark.sql.keyroute.route.{
  KeyHash,
  OperatorsSuite,
  RoutedExchangeExec,
  RowRouter,
  StreamingTest
}
import org.apache.spark.sql.streaming.{OutputMode, TimeMode}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.{SparkConf, TaskContext}

import io.keyroute.core.sketch.SlotPairCounts
import io.keyroute.core.table.{GroupShape, GroupTable}
import io.keyroute.proto.v1.{MapTaskCounts, ReduceTaskReads}

/** What map and reduce tasks report, for chains of two operators: op 1 by `k`, op 0 downstream. */
class CountingSuite extends AnyFunSuite with BeforeAndAfterAll {
  import CountingSuite._
  import StreamingTest._

  private val feeds: Seq[Seq[Seq[Event]]] = (0 until 2).map(b => Seq(events(b)))
  private val twoDedups = (frame: DataFrame) =>
    frame.dropDuplicates("k").withColumn("w", col("v") % 10).dropDuplicates("k", "w")

  override protected def beforeAll(): Unit = TaskReports.connect(Driver)
  override protected def afterAll(): Unit = TaskReports.connect(null)

  /** Runs a query and waits for all its reports: a task's listeners run before Spark counts it as
    * ended, but not before the batch's last job does. */
  private def counted(
      settings: Map[String, String] = Map.empty,
      tables: String = "random",
      mode: OutputMode = OutputMode.Update()
  )(query: DataFrame => DataFrame): (Run, Seq[MapTaskCounts]) = {
    Driver.received.clear()
    val run = streamed(tables, feeds, mode, settings)(s => query(s.head))
    val written = run.nodes { case e: RoutedExchangeExec =>
      e.metrics("shuffleRecordsWritten").value
    }.sum
    eventually(timeout(10.seconds), interval(20.millis)) {
      assert(rows(Driver.maps) == written)
    }
    (run, Driver.maps)
  }

  private def rows(counts: Seq[MapTaskCounts]): Long =
    counts.flatMap(_.getPartitionRowsList.asScala).map(_.longValue).sum

  test("partitions, slots and keys are counted exactly, in every exchange") {
    Seq("empty", "random").foreach { tables =>
      val (run, counts) = counted(tables = tables)(twoDedups)
      assert(counts.map(_.getGroup).toSet == Set(0L, 1L))
      counts.groupBy(_.getGroup).foreach { case (_, group) =>
        assert(group.flatMap(_.getSlotRowsList.asScala).map(_.longValue).sum == rows(group))
        assert(group.map(_.getKeys.getRows).sum == rows(group))
      }
      assert(rows(counts.filter(_.getGroup == 1L)) == feeds.flatten.flatten.size)
      assert(counts.map(_.getTableVersion).toSet == Set(if (tables == "random") 1L else 0L))
      val byTable = run.nodes { case e: RoutedExchangeExec => e.metrics("rowsByTable").value }.sum
      assert(counts.map(_.getExplicitRows).sum == byTable && (byTable > 0) == (tables == "random"))
    }
  }

  test("pairs: the upstream key is found by its attribute, and counted as it was routed") {
    val (_, counts) = counted()(twoDedups)
    val (downstream, upstream) = counts.partition(_.getGroup == 0L)
    assert(downstream.map(c => (c.getUpstreamGroup, c.getUpstreamKey)).toSet == Set((
      1L,
      "attribute"
    )))
    assert(upstream.map(c => (c.getUpstreamGroup, c.getUpstreamKey)).toSet == Set((-1L, "")))
    val routed = upstream.flatMap(_.getKeys.getFingerprintsList.asScala).toSet
    val paired = downstream.flatMap(_.getPairs.getUpstreamList.asScala).toSet
    assert(paired.size == 150 && paired == routed)
    assert(downstream.map(_.getPairs.getRows).sum == rows(downstream))
  }

  test("the slot of each key, and the matrix of slots, are those of the keys' hashes") {
    val (_, counts) = counted()(twoDedups)
    val (down, up) = counts.partition(_.getGroup == 0L)
    val table = GroupTable.empty(Reports.shape(0).copy(
      partitions = Partitions,
      slots = GroupShape.defaultSlots(Partitions)
    ))
    def keyed(types: DataType*)(key: Any*): (Long, Int) = {
      val router = new RowRouter(KeyHash.ofKeyRow(types, types.indices))
      router.take(InternalRow.fromSeq(key))
      router.fingerprint -> table.slotOf(router.hash)
    }
    // Each key passes the first operator once.
    val keys = feeds.flatten.flatten.distinct.map { e =>
      val k = UTF8String.fromString(e.k)
      keyed(StringType)(k) -> keyed(StringType, LongType)(k, e.v % 10)
    }
    def slots(counts: Seq[MapTaskCounts]) = counts.flatMap { c =>
      c.getKeys.getFingerprintsList.asScala.map(_.longValue)
        .zip(c.getKeys.getSlotsList.asScala.map(_.intValue))
    }.toSet
    assert(keys.size == 150)
    assert(slots(up) == keys.map(_._1).toSet && slots(down) == keys.map(_._2).toSet)
    val cells = new SlotPairCounts(1000)
    down.foreach(c => cells.addAll(c.getSlotPairs, table.shape.slots, table.shape.slots))
    val expected = new SlotPairCounts(1000)
    keys.foreach { case ((_, from), (_, to)) => expected.add(from, to) }
    assert(cells.toProto() == expected.toProto() && cells.leftOut == 0)
    assert(!up.exists(_.hasSlotPairs))
    assert(up.forall(_.getReadsSource) && !down.exists(_.getReadsSource))
  }

  test("keys whose slot changes with the window have none, and there is no matrix") {
    val (_, counts) = counted() { frame =>
      frame.dropDuplicates("k").withColumn("ts", timestamp_seconds(col("v") + 1))
        .groupBy(window(col("ts"), "1 minute"), col("k")).agg(count(lit(1)))
    }
    val (down, up) = counts.partition(_.getGroup == 0L)
    assert(down.map(_.getUpstreamKey).toSet == Set("attribute"))
    assert(down.map(_.getKeys.getFingerprintsCount).sum > 0)
    assert(down.map(_.getKeys.getSlotsCount).sum == 0 && !down.exists(_.hasSlotPairs))
    assert(up.forall(c => c.getKeys.getSlotsCount == c.getKeys.getFingerprintsCount))
  }

  test("a sample of every third row counts for three; slots and partitions stay exact") {
    val settings = Map(
      "spark.keyroute.statistics.sample" -> "3",
      "spark.keyroute.statistics.slotPairs" -> "0"
    )
    val (_, counts) = counted(settings)(twoDedups)
    counts.foreach { c =>
      val rows = c.getSlotRowsList.asScala.map(_.longValue).sum
      assert(rows == c.getPartitionRowsList.asScala.map(_.longValue).sum)
      assert(c.getKeys.getRows % 3 == 0 && math.abs(c.getKeys.getRows - rows) < 3)
      assert(!c.hasSlotPairs)
    }
    assert(counts.map(_.getKeys.getRows).sum > 0)
  }

  test("which rows a sample takes differs from task to task and from batch to batch") {
    val run = UUID.randomUUID()
    Seq(2, 3, 31).foreach { every =>
      val byTask = (0 until 100 * every)
        .map(task => TaskSketches.phase(ExchangeId(run, 7, 0, 0), task, every))
      val byBatch = (0 until 100 * every)
        .map(batch => TaskSketches.phase(ExchangeId(run, batch.toLong, 0, 0), 7, every))
      Seq(byTask, byBatch).foreach { phases =>
        val each = phases.groupBy(identity).values.map(_.size)
        assert(each.size == every && each.forall(n => n > 50 && n < 200))
      }
    }
  }

  test("no state is told of partitions that one task reads together") {
    val (run, _) = counted()(_.dropDuplicates("k").coalesce(2))
    val expected = run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    // 4 partitions in 2 tasks.
    assert(!Driver.reads.exists(r => r.hasStateRows || r.hasStateBytes || r.hasRunMs))
    assert(Driver.reads.map(_.getLocalBytes).sum > 0)
  }

  test("a store that does not count its rows is not said to be empty") {
    val track = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"
    val (run, _) = counted(Map(track -> "false"))(twoDedups)
    val expected = 2 * run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    assert(!Driver.reads.exists(r => r.hasStateRows || r.hasStateBytes))
    assert(Driver.reads.forall(_.hasRunMs))
  }

  test("a method that another release of Spark does not have costs the report and no task") {
    TaskReports.attempt(throw new NoSuchMethodError("meant to be missing"))
    assertThrows[OutOfMemoryError](TaskReports.attempt(throw new OutOfMemoryError("meant")))
  }

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

  test("the attempt that fails says nothing") {
    val failing = udf { (v: Long) =>
      val task = TaskContext.get()
      if (task.partitionId() == 0 && task.attemptNumber() == 0 && v > 100)
        throw new IllegalStateException("meant to fail")
      v
    }.asNondeterministic()
    val (_, counts) = counted()(_.withColumn("v", failing(col("v"))).dropDuplicates("k"))
    assert(rows(counts) == feeds.flatten.flatten.size)
    assert(counts.map(c =>
      (c.getBatch, c.getExchange, c.getMapPartition)
    ).distinct.size == counts.size)
  }

  test("a value that a session sets and that cannot be read is as if it were not set") {
    val bad = Seq("spark.keyroute.statistics.counters", "spark.keyroute.enabled")
      .map(_ -> "abc").toMap
    val (_, counts) = counted(bad)(twoDedups)
    assert(counts.map(_.getKeys.getCapacity).toSet == Set(32768))
    val (_, none) = counted(Map("spark.keyroute.statistics.counters" -> "0"))(twoDedups)
    assert(none.map(_.getKeys.getCapacity).toSet == Set(32768))
  }

  test("a driver that cannot be reached costs the reports and no task") {
    Driver.received.clear()
    Driver.reachable = false
    val run =
      try streamed("random", feeds, OutputMode.Update())(s => twoDedups(s.head))
      finally Driver.reachable = true
    assert(Driver.received.isEmpty)
    assert(run.batches == streamed("none", feeds, OutputMode.Update())(s =>
      twoDedups(s.head)
    ).batches)
  }

  test("the user's word for the upstream key goes before its name") {
    val renamed = (frame: DataFrame) => numbered(frame).withColumnRenamed("k", "value")
    val setting = Map("spark.keyroute.statistics.upstreamKey" -> "other")
    val (_, counts) = counted(setting)(
      renamed(_).withColumn("other", col("value")).dropDuplicates("value", "v")
    )
    assert(counts.filter(_.getGroup == 0L).map(_.getUpstreamKey).toSet == Set("setting"))
  }

  test("the more map tasks there are, the fewer counters each sends") {
    val limits = CountLimits(32768, 65536, 1)
    val tasks = Seq(0, 1, 2, 16, 1000)
    assert(tasks.map(limits.countersSent) == Seq(32768, 32768, 16384, 2048, 1024))
    assert(tasks.map(limits.slotPairsSent) == Seq(65536, 65536, 65536, 16384, 1024))
    assert(limits.copy(slotPairs = 10).slotPairsSent(1000) == 10)
  }

  test("statistics off: nothing is reported") {
    Driver.received.clear()
    val off = Map("spark.keyroute.statistics.enabled" -> "false")
    val run = streamed("random", feeds, settings = off)(s => twoDedups(s.head))
    assert(Driver.received.isEmpty)
    assert(run.nodes { case e: RoutedExchangeExec => e.metrics("rowsByTable").value }.sum > 0)
  }

  test("reduce tasks report the bytes they read, once for each partition") {
    val (run, _) = counted()(twoDedups)
    val expected = 2 * run.batches.size * Partitions
    eventually(timeout(10.seconds), interval(20.millis))(assert(Driver.reads.size == expected))
    assert(Driver.reads.map(r =>
      (r.getBatch, r.getGroup, r.getPartition)
    ).distinct.size == expected)
    assert(Driver.reads.map(_.getLocalBytes).sum > 0 && Driver.reads.map(_.getRemoteBytes).sum == 0)
    // Both operators hold each key that came.
    Seq(100L, 150L).zipWithIndex.foreach { case (keys, batch) =>
      Driver.reads.filter(_.getBatch == batch).groupBy(_.getGroup).values.foreach { reads =>
        assert(reads.map(_.getStateRows).sum == keys && reads.map(_.getStateBytes).sum > 0)
        assert(reads.map(_.getRunMs).sum > 0)
      }
    }
  }

  private def numbered(frame: DataFrame): DataFrame = {
    import spark.implicits._
    frame.select("k", "v").as[Event].groupByKey(_.k)
      .transformWithState(new OperatorsSuite.Counting, TimeMode.None(), OutputMode.Update()).toDF()
  }
}

object CountingSuite {

  /** Stands for the driver's side. */
  private object Driver extends PluginContext {
    val received = new ConcurrentLinkedQueue[Array[Byte]]()
    @volatile var reachable: Boolean = true

    private def ofKind(kind: Byte): Seq[Array[Byte]] =
      received.asScala.toSeq.filter(_.head == kind).map(_.tail)

    def maps: Seq[MapTaskCounts] = ofKind(TaskReports.MapCounts).map(MapTaskCounts.parseFrom)
    def reads: Seq[ReduceTaskReads] = ofKind(TaskReports.ReduceReads).map(ReduceTaskReads.parseFrom)

    override def send(message: AnyRef): Unit = message match {
      case _ if !reachable => throw new IllegalStateException("the driver's endpoint is not known")
      case bytes: Array[Byte] => received.add(bytes): Unit
      case other => throw new IllegalArgumentException(s"not a report: $other")
    }
    override def executorID(): String = "driver"
    override def ask(message: AnyRef): AnyRef = null
    override def metricRegistry(): MetricRegistry = new MetricRegistry
    override def conf(): SparkConf = new SparkConf(false)
    override def hostname(): String = "localhost"
    override def resources(): java.util.Map[String, ResourceInformation] = java.util.Map.of()
  }
}
