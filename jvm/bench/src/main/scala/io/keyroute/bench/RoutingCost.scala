package io.keyroute.bench

import java.lang.management.ManagementFactory
import java.util.UUID

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.keyroute.count.{
  CountLimits,
  CountedExchange,
  ExchangeId,
  MapTaskCounter,
  UpstreamKey
}
import org.apache.spark.sql.keyroute.route.{KeyHash, RouteKey}
import org.apache.spark.sql.types.{DataType, LongType}

import io.keyroute.core.table.{GroupShape, GroupTable}

/** What a map task pays to route a narrow row, in CPU time of its thread: by Spark, by the empty table
  * with statistics, by a table with entries, and in a chain. What the task reports at its end is in it.
  * Keys are uniform, the worst that sketches know. The median of many tasks of each way, in turns; a
  * table in Markdown.
  *
  * `./sbt "bench/runMain io.keyroute.bench.RoutingCost"` */
object RoutingCost {

  /** A task's routing, and what it does at its end. */
  private type Way = (RouteKey, () => Unit)

  private val Partitions = 4
  private val Keys = 100000
  private val Rows = 4000000
  private val MapTasks = 2
  private val threads = ManagementFactory.getThreadMXBean

  private val columns = Seq("key", "upstream").map(AttributeReference(_, LongType)())
  private val shape = GroupShape(
    0,
    Seq(0),
    Partitions,
    GroupShape.defaultSlots(Partitions),
    Seq(0),
    Seq("key"),
    Seq("BIGINT"),
    stableSlots = true
  )
  private val empty = GroupTable.empty(shape)
  private val key = KeyHash(columns.take(1), Seq(0))

  def main(args: Array[String]): Unit = {
    val ways = Seq[(String, Int => Way)](
      "Spark" -> (_ => bySpark -> (() => ())),
      "statistics" -> counted(empty, None),
      "statistics, chain" -> counted(empty, Some(upstream)),
      "table, no statistics" -> routed(table, None, None),
      "table, statistics" -> counted(table, None),
      "table, statistics, chain" -> counted(table, Some(upstream))
    )
    println("| rows of a task | " + ways.map(_._1).mkString(" | ") + " |")
    println("|---" * (ways.size + 1) + "|")
    // The longest first: the others then run compiled code.
    for (rows <- Seq(1000000, 100000, 20000, 4000)) {
      val stream = rowsOf(rows)
      val rounds = 40 + Rows / rows
      val nanos = Seq.tabulate(rounds)(round =>
        ways.map { case (_, way) => cpuTime(stream, () => way(round)) }
      )
      val medians = nanos.drop(rounds / 4).transpose.map(of => of.sorted.apply(of.size / 2))
      println(s"| $rows | ${medians.map(n => f"$n%.0f ns").mkString(" | ")} |")
    }
  }

  /** Of one row, in one task. */
  private def cpuTime(rows: Array[UnsafeRow], way: () => Way): Double = {
    val began = threads.getCurrentThreadCpuTime
    val (route, report) = way()
    var sum = 0
    var i = 0
    while (i < rows.length) {
      sum += route.partition(rows(i))
      i += 1
    }
    report()
    val took = threads.getCurrentThreadCpuTime - began
    require(sum > 0)
    took.toDouble / rows.length
  }

  private def counted(table: GroupTable, from: Option[UpstreamKey])(round: Int): Way = {
    val id = ExchangeId(new UUID(0, 1), round, 0, 0)
    val exchange = CountedExchange(id, CountLimits.of(_ => None), from, readsSource = from.isEmpty)
    routed(table, Some(exchange), from)(round)
  }

  private def routed(
      table: GroupTable,
      exchange: Option[CountedExchange],
      from: Option[UpstreamKey]
  )(
      round: Int
  ): Way = {
    val counter = new MapTaskCounter(table, exchange, round % MapTasks)
    val route = RouteKey.byTable(key, from.map(_.key), columns, table, counter)
    route -> (() => counter.counts(MapTasks).foreach(_.toByteArray))
  }

  private def bySpark =
    RouteKey.bySpark(HashPartitioning(columns.take(1), Partitions), columns)

  private def upstream = UpstreamKey(1, "attribute", columns.drop(1), Some(shape.slots))

  /** Half of the keys have an entry. */
  private lazy val table: GroupTable = {
    val print = UnsafeProjection.create(Seq(key.fingerprint), columns)
    val prints =
      (0 until Keys by 2).map(k => print(InternalRow(k.toLong, 0L)).getLong(0)).distinct.sorted
    GroupTable.build(shape, prints.toArray, prints.map(p => Math.floorMod(p, Partitions)).toArray)
  }

  private def rowsOf(count: Int): Array[UnsafeRow] = {
    val random = new Random(7)
    val toUnsafe = UnsafeProjection.create(Array[DataType](LongType, LongType))
    Array.fill(count) {
      toUnsafe(InternalRow(random.nextInt(Keys).toLong, random.nextInt(Keys).toLong)).copy()
    }
  }
}
