package org.apache.spark.sql.keyroute.route

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyroute.count.{
  CountedExchange,
  KeyLabels,
  MapTaskCounter,
  ReduceTaskReport,
  TaskReports,
  UpstreamNotes
}
import org.apache.spark.util.MutablePair

/** The writing side of a routed exchange: gives each row its partition, and counts. It goes to the
  * executors in the closure of the map stage, so that a stage that runs again routes alike.
  *
  * @param counted
  *   None where statistics are off
  */
final case class MapSide(
    hash: HashPartitioning,
    input: Seq[Attribute],
    group: Long,
    version: Long,
    routing: ExchangeRoute,
    counted: Option[CountedExchange],
    rowsByTable: SQLMetric,
    rowsBySlot: SQLMetric
) {

  def reduceReport: Option[ReduceTaskReport] = counted.map(c => ReduceTaskReport(c.id))

  /** @param copy
    *   whether the shuffle keeps rows beyond the next
    */
  def route(rows: RDD[InternalRow], copy: Boolean): RDD[Product2[Int, InternalRow]] = {
    val mapTasks = rows.getNumPartitions
    rows.mapPartitionsWithIndexInternal(
      (mapPartition, iterator) => {
        val key = keyOf(TaskContext.get(), mapPartition, mapTasks)
        if (copy) iterator.map(row => (key.partition(row), row.copy()): Product2[Int, InternalRow])
        else {
          val pair = new MutablePair[Int, InternalRow]()
          iterator.map(row => pair.update(key.partition(row), row): Product2[Int, InternalRow])
        }
      },
      isOrderSensitive = false
    )
  }

  private def keyOf(task: TaskContext, mapPartition: Int, mapTasks: Int): RouteKey =
    if (version == 0 && counted.isEmpty) RouteKey.bySpark(hash, input)
    else {
      val table = routing.table(group)
      val key = KeyHash(hash.expressions, table.shape.routingOrdinals)
      val zone = SQLConf.get.sessionLocalTimeZone
      val labels = KeyLabels.of(counted, key.routingColumns, input, zone)
      val counter = new MapTaskCounter(table, counted, mapPartition, labels)
      task.addTaskCompletionListener[Unit] { ended =>
        rowsByTable.add(counter.rowsByEntry)
        rowsBySlot.add(counter.rowsBySlot)
        if (!ended.isFailed() && !ended.isInterrupted())
          TaskReports.attempt(counter.report(mapTasks))
      }
      val upstream = counted.flatMap(_.upstream)
      RouteKey.byTable(
        key,
        upstream.filterNot(_.noted).map(_.key),
        input,
        table,
        counter,
        upstream.filter(_.noted).map(_ => UpstreamNotes.of(task)),
        labels
      )
    }
}

object MapSide {
  def of(exchange: RoutedExchangeExec): MapSide = MapSide(
    exchange.hash,
    exchange.child.output,
    exchange.group,
    exchange.version,
    exchange.routing,
    CountedExchange.of(exchange),
    exchange.metrics("rowsByTable"),
    exchange.metrics("rowsBySlot")
  )
}
