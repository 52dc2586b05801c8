package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.ShuffledRowRDD
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.keyroute.count.ReduceTaskReport
import org.apache.spark.{Partition, ShuffleDependency, TaskContext}

/** The reading side of a routed exchange: hands the task its tables before the first row, and has
  * it report when it has succeeded. */
final class RoutedRowRDD(
    shuffle: ShuffleDependency[Int, InternalRow, InternalRow],
    readMetrics: Map[String, SQLMetric],
    route: BatchRoute,
    report: Option[ReduceTaskReport]
) extends ShuffledRowRDD(shuffle, readMetrics) {

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    TaskRoute.set(context, route)
    report.foreach(_.onSuccess(context, split.index))
    super.compute(split, context)
  }
}
