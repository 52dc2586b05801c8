package org.apache.spark.sql.keyroute.route

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.{Partition, Partitioner, TaskContext}

/** Hands the task its tables directly under a stateful operator that has no routed exchange as its
  * child. The exchange's own RDD would be too late under a union that Spark zips by partition: such
  * a union makes its parents' iterators lazily, after the operator has asked for its store. */
final case class CarryExec(child: SparkPlan, version: Long)(@transient val route: BatchRoute)
    extends UnaryExecNode {
  override def nodeName: String = "CarryRoutingTables"
  override def output: Seq[Attribute] = child.output
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def otherCopyArgs: Seq[AnyRef] = Seq(route)
  override protected def doExecute(): RDD[InternalRow] = new CarryRDD(child.execute(), route)
  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)(route)
}

/** Passes its parent on; sets [[TaskRoute]] before the parent is asked for its first row. */
private final class CarryRDD(prev: RDD[InternalRow], route: BatchRoute)
    extends RDD[InternalRow](prev) {
  override val partitioner: Option[Partitioner] = prev.partitioner

  override protected def getPartitions: Array[Partition] = firstParent[InternalRow].partitions

  override def compute(split: Partition, context: TaskContext): Iterator[InternalRow] = {
    TaskRoute.set(context, route)
    firstParent[InternalRow].iterator(split, context)
  }
}
