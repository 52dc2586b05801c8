package org.apache.spark.sql.keyroute.count

import java.util.concurrent.atomic.AtomicInteger

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.functions.{
  broadcast,
  col,
  collect_set,
  count,
  lit,
  sort_array,
  sum,
  timestamp_seconds,
  udf,
  window
}
import org.apache.spark.sql.keyroute.route.{KeyHash, RoutedExchangeExec, RowRouter, StreamingTest}
import org.apache.spark.sql.streaming.{
  OutputMode,
  StatefulProcessor,
  TTLConfig,
  TimeMode,
  TimerValues,
  ValueState
}
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.unsafe.types.UTF8String

import io.keyroute.core.sketch.SlotPairCounts
import io.keyroute.core.table.{GroupShape, GroupTable}
import io.keyroute.proto.v1.MapTaskCounts

/** Upstream keys that the rows of an exchange have lost: each way of losing them, and each of finding
  * them again. Results are those of plain Spark, rows that are shuffled those of a query that is not
  * counted, and counts those of a computation apart. */
class CarriedUpstreamKeySuite extends CountingTest {
  import CarriedUpstreamKeySuite._
  import StreamingTest._

  override protected val feeds: Seq[Seq[Seq[Event]]] = (0 until 3).map(b => Seq(events(b)))

  private val upstreamKey = "spark.keyroute.statistics.upstreamKey"
  private val carry = "spark.keyroute.statistics.carryUpstreamKey"

  /** Of the downstream exchange, under the empty table; under a random one results are the same. */
  private def found(
      how: String,
      mode: OutputMode = OutputMode.Update(),
      settings: Map[String, String] = Map.empty
  )(query: DataFrame => DataFrame): Seq[MapTaskCounts] = {
    val plain = streamed("none", feeds, mode)(s => query(s.head))
    val (random, _) = counted(settings, "random", mode)(query)
    val (run, counts) = counted(settings, "empty", mode)(query)
    assert(plain.rows.nonEmpty)
    Seq(random, run).foreach(r => assert(r.batches == plain.batches))
    assert(shuffledRows(run) == shuffledRows(plain))
    val down = counts.filter(_.getGroup == 0L)
    assert(down.map(c => (c.getUpstreamGroup, c.getUpstreamKey)).toSet == Set((1L, how)))
    Seq(run, random).foreach(r => assert(notes(r).size == feeds.size))
    assert(down.map(_.getPairs.getRows).sum == rows(down))
    down
  }

  private def notes(run: Run): Seq[UpstreamKeyExec] = run.nodes { case n: UpstreamKeyExec => n }

  /** Columns of each exchange, and bytes that went through it. */
  private def shuffledRows(run: Run): Seq[(Seq[(String, DataType)], Long)] = run.nodes {
    case e: ShuffleExchangeLike =>
      e.output.map(a => a.name -> a.dataType) -> e.metrics("dataSize").value
  }

  private def notFound(settings: Map[String, String] = Map.empty)(
      query: DataFrame => DataFrame
  ): Unit = {
    val (run, counts) = counted(settings)(query)
    assert(counts.map(_.getGroup).toSet == Set(0L, 1L))
    assert(counts.map(_.getUpstreamGroup).toSet == Set(-1L) && notes(run).isEmpty)
  }

  private val fresh: Seq[Event] = feeds.flatten.flatten.distinct

  private def pairsOf(counts: Seq[MapTaskCounts]): Map[(Long, Long), Long] =
    rowsOfPairs(counts.map(_.getPairs))

  test("a projection leaves it out: pairs and slots are those of the rows") {
    val down = found("attribute") {
      _.dropDuplicates("k").select((col("v") % 10).as("w")).dropDuplicates("w")
    }
    val expected = fresh.map(e => text(e.k) -> number(e.v % 10))
    assert(pairsOf(down) ==
      expected.groupMapReduce { case (k, w) => (k.fingerprint, w.fingerprint) }(_ => 1L)(_ + _))
    val cells = new SlotPairCounts(1000)
    down.foreach(c => cells.addAll(c.getSlotPairs, Table.shape.slots, Table.shape.slots))
    val expectedCells = new SlotPairCounts(1000)
    expected.foreach { case (k, w) => expectedCells.add(k.slot, w.slot) }
    assert(cells.toProto == expectedCells.toProto && cells.leftOut == 0)
  }

  test("a partial aggregation leaves it out: each of its rows counts once, for one of its keys") {
    Seq[DataFrame => DataFrame](
      _.groupBy((col("v") % 10).as("w")).agg(count(lit(1)), sum("v")),
      _.groupBy((col("v") % 10).as("w")).agg(sort_array(collect_set("v")))
    ).foreach { aggregation =>
      val down = found("attribute")(frame => aggregation(frame.dropDuplicates("k")))
      val seen = scala.collection.mutable.Set.empty[Event]
      val expected = feeds.flatten.zipWithIndex.flatMap { case (batch, number) =>
        batch.filter(seen.add).groupBy(e => Table.partitionOf(text(e.k))).toSeq.flatMap {
          case (task, rows) => rows.reverse.groupBy(_.v % 10).toSeq.map { case (w, of) =>
              representative(
                of.map(e => text(e.k)),
                number.toLong,
                task
              ) -> this.number(w).fingerprint
            }
        }
      }
      assert(pairsOf(down) == expected.groupMapReduce(identity)(_ => 1L)(_ + _))
      assert(down.map(_.getSlotPairs.getRowsList.asScala.map(_.longValue).sum).sum == rows(down))
      assert(down.map(_.getSlotPairs.getLeftOut).sum == 0)
    }
  }

  test("the last step of an aggregation leaves it out, before one of its windows") {
    val down = found("attribute", OutputMode.Append()) {
      _.withColumn("ts", timestamp_seconds(col("v"))).withWatermark("ts", "1 second")
        .groupBy(window(col("ts"), "100 seconds"), col("k")).agg(sum("v").as("s"))
        .groupBy(window(col("window"), "200 seconds"), (col("s") % 3).as("p"))
        .agg(count(lit(1)))
    }
    val up = pairsOf(down).keySet.map(_._1)
    assert(up.nonEmpty && up.subsetOf(fresh.map(e => text(e.k).fingerprint).toSet))
  }

  test("the optimiser leaves it out of a user's object: found by the setting, and by name") {
    val settings = Map(upstreamKey -> "k")
    val bySetting =
      found("setting", settings = settings)(numbered(_, "k").groupBy("v").agg(count(lit(1))))
    val byName = found("name")(numbered(_, "value").groupBy("v").agg(count(lit(1))))
    Seq(bySetting, byName).foreach { down =>
      assert(pairsOf(down).keySet.map(_._1).subsetOf(fresh.map(e => text(e.k).fingerprint).toSet))
    }
    assert(pairsOf(bySetting) == pairsOf(byName) && pairsOf(byName).size > 10)
  }

  test("it is carried through what makes several rows of one, and through a broadcast join") {
    val exploded = found("attribute") {
      _.dropDuplicates("k").selectExpr("explode(array(v, v + 1)) as w").dropDuplicates("w")
    }
    assert(pairsOf(exploded) == fresh.flatMap(e =>
      Seq(e.v, e.v + 1).map { w =>
        (text(e.k).fingerprint, number(w).fingerprint) -> 1L
      }
    ).toMap)
    val joined = found("attribute") {
      _.dropDuplicates("k").selectExpr("v % 10 as d")
        .join(broadcast(spark.range(10).selectExpr("id as d", "id % 3 as w")), "d")
        .select("w").filter("w > 0").dropDuplicates("w")
    }
    val expected = fresh.map(e => text(e.k) -> e.v % 10 % 3).filter(_._2 > 0)
    assert(pairsOf(joined) ==
      expected.map { case (k, w) => (k.fingerprint, number(w).fingerprint) -> 1L }.toMap)
  }

  test("a user's function that drops it is not seen through") {
    import spark.implicits._
    notFound()(_.dropDuplicates("k").select("v").as[Long].map(_ % 10).toDF("w").dropDuplicates("w"))
    notFound()(numbered(_, "k").groupBy("v").agg(count(lit(1))))
  }

  test("a setting leaves it where it is") {
    notFound(Map(carry -> "false"))(
      _.dropDuplicates("k").groupBy((col("v") % 10).as("w")).agg(count(lit(1)))
    )
  }

  test("what a user's function gives for a column is worked out once") {
    calls.set(0)
    val tens = udf { (v: Long) =>
      calls.incrementAndGet()
      v % 10
    }
    val (run, counts) =
      counted()(_.dropDuplicates("k").groupBy(tens(col("v"))).agg(count(lit(1))))
    assert(counts.filter(_.getGroup == 0L).map(_.getUpstreamKey).toSet == Set("attribute"))
    assert(notes(run).nonEmpty && calls.get == fresh.size)
  }

  test("without statistics nothing is added to the plan") {
    val off = Map("spark.keyroute.statistics.enabled" -> "false")
    val run = streamed("random", feeds, OutputMode.Update(), off) { s =>
      s.head.dropDuplicates("k").groupBy((col("v") % 10).as("w")).agg(count(lit(1)))
    }
    assert(run.nodes { case e: RoutedExchangeExec => e }.nonEmpty && notes(run).isEmpty)
  }

  test("of several upstream keys each is as likely, in any order, in bounded memory") {
    val chosen = (0 until 4000).map { task =>
      val orders = (1L to 4L).toList.permutations.take(5).map { keys =>
        val notes = new UpstreamOfKeys(1, UpstreamOfKeys.seed(task / 8L, task % 8))
        keys.foreach(up => notes.note(7L, up, up.toInt + 1))
        notes.note(8L, 9L, 9)
        assert(notes.find(8L) == -1)
        val at = notes.find(7L)
        assert(notes.hash(at) == notes.fingerprint(at) + 1)
        notes.fingerprint(at)
      }.toSet
      assert(orders.size == 1)
      orders.head
    }
    val each = chosen.groupBy(identity).values.map(_.size)
    assert(each.size == 4 && each.forall(n => n > 850 && n < 1150))
    val many = new UpstreamOfKeys(1000, 0L)
    (0L until 1000L).foreach(key => many.note(key * key, key, key.toInt))
    assert((0L until 1000L).forall(key => many.fingerprint(many.find(key * key)) == key))
  }

  private def representative(of: Seq[Key], batch: Long, task: Int): Long = {
    val notes = new UpstreamOfKeys(1, UpstreamOfKeys.seed(batch, task))
    of.foreach(key => notes.note(0L, key.fingerprint, 0))
    notes.fingerprint(notes.find(0L))
  }

  private def text(k: String): Key = Table.key(StringType)(UTF8String.fromString(k))
  private def number(v: Long): Key = Table.key(LongType)(v)

  /** Numbers the events of a key, which is in a column of that name. */
  private def numbered(frame: DataFrame, key: String): DataFrame = {
    import spark.implicits._
    val events = frame.select("k", "v").as[Event].groupByKey(_.k)
    def run[T: org.apache.spark.sql.Encoder](make: (String, Long) => T) = events
      .transformWithState(new Numbering[T](make), TimeMode.None(), OutputMode.Update()).toDF()
    if (key == "k") run[Event](Event(_, _)) else run[Numbered](Numbered(_, _))
  }
}

object CarriedUpstreamKeySuite {
  import StreamingTest.{Event, Partitions}

  val calls: AtomicInteger = new AtomicInteger

  final case class Numbered(value: String, v: Long)

  final case class Key(fingerprint: Long, hash: Int) {
    def slot: Int = Table.table.slotOf(hash)
  }

  object Table {
    val shape: GroupShape = Reports.shape(0).copy(
      partitions = Partitions,
      slots = GroupShape.defaultSlots(Partitions)
    )
    val table: GroupTable = GroupTable.empty(shape)

    def key(types: DataType*)(values: Any*): Key = {
      val router = new RowRouter(KeyHash.ofKeyRow(types, types.indices))
      router.take(InternalRow.fromSeq(values))
      Key(router.fingerprint, router.hash)
    }

    def partitionOf(key: Key): Int = table.route(key.hash, key.fingerprint)
  }

  final class Numbering[T](make: (String, Long) => T) extends StatefulProcessor[String, Event, T] {
    @transient private var seen: ValueState[Long] = _

    override def init(outputMode: OutputMode, timeMode: TimeMode): Unit =
      seen = getHandle.getValueState[Long]("seen", Encoders.scalaLong, TTLConfig.NONE)

    override def handleInputRows(
        key: String,
        rows: Iterator[Event],
        timers: TimerValues
    ): Iterator[T] = {
      val before = if (seen.exists()) seen.get() else 0L
      val all = rows.size
      seen.update(before + all)
      (1 to all).iterator.map(i => make(key, before + i))
    }
  }
}
