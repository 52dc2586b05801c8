package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  Distribution,
  StatefulOpClusteredDistribution
}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StatefulOperator,
  StatefulOperatorStateInfo
}
import org.apache.spark.sql.keyroute.SparkSeam

/** What a stateful operator demands of one of its children.
  *
  * @param strict
  *   whether the child must be partitioned by exactly these columns, as all but old checkpoints want
  */
final case class KeyDemand(
    distribution: Distribution,
    key: Seq[Expression],
    partitions: Int,
    strict: Boolean
)

/** A plan's node with keyed state. An aggregation has two of one operator id: restore and save. */
final class StatefulNode private (val node: SparkPlan, val info: StatefulOperatorStateInfo) {
  def id: Long = info.operatorId

  /** For each child: its demand, or None where it brings no keyed rows. A global limit or aggregate
    * demands nothing of this kind, and an operator reads its initial state in the query's first batch
    * only. */
  lazy val demands: Seq[Option[KeyDemand]] =
    node.requiredChildDistribution.zipWithIndex.map { case (distribution, child) =>
      if (child == 1 && SparkSeam.mayHaveInitialState(node) && !SparkSeam.hasInitialState(node))
        None
      else StatefulNode.demand(distribution, info.numPartitions)
    }

  /** Of the children that are there in every batch: not of an initial state. */
  def steadyDemands: Seq[KeyDemand] =
    (if (SparkSeam.mayHaveInitialState(node)) demands.take(1) else demands).flatten

  def isKeyed: Boolean = demands.exists(_.isDefined)
}

object StatefulNode {

  def unapply(plan: SparkPlan): Option[StatefulNode] = plan match {
    case operator: SparkPlan with StatefulOperator =>
      operator.stateInfo.map(new StatefulNode(operator, _)).filter(_.isKeyed)
    case _ => None
  }

  def allIn(plan: SparkPlan): Seq[StatefulNode] = plan.collect { case StatefulNode(n) => n }

  private def demand(distribution: Distribution, partitions: Int): Option[KeyDemand] =
    distribution match {
      case d: StatefulOpClusteredDistribution =>
        Some(KeyDemand(d, d.expressions, partitions, strict = true))
      case d: ClusteredDistribution =>
        Some(KeyDemand(d, d.clustering, partitions, strict = false))
      case _ => None
    }
}
