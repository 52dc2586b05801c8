package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, NamedExpression}
import org.apache.spark.sql.execution.aggregate.{
  BaseAggregateExec,
  HashAggregateExec,
  ObjectHashAggregateExec,
  SortAggregateExec
}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.joins.{BroadcastHashJoinExec, BroadcastNestedLoopJoinExec}
import org.apache.spark.sql.execution.{
  GenerateExec,
  ProjectExec,
  SerializeFromObjectExec,
  SparkPlan,
  UnaryExecNode
}
import org.apache.spark.sql.keyroute.route.StatefulNode

/** Widens a plan by columns that nodes further down have and those above them leave out. */
private[count] object CarriedColumns {

  /** The plan with these columns, too; None where a node does not pass them on, as a user's function does
    * not. What it had it keeps, maybe at other positions. */
  def upTo(plan: SparkPlan, columns: Seq[Attribute], lost: LostColumns): Option[SparkPlan] = {
    val missing = columns.filterNot(plan.outputSet.contains)
    def child(of: SparkPlan) = upTo(of, columns, lost)
    if (missing.isEmpty) Some(plan)
    else
      (plan match {
        case _: Exchange | StatefulNode(_) => None
        case p: ProjectExec => child(p.child).map(p.copy(p.projectList ++ missing, _))
        case g: GenerateExec =>
          child(g.child).map(c =>
            g.copy(requiredChildOutput = g.requiredChildOutput ++ missing, child = c)
          )
        case s: SerializeFromObjectExec =>
          val made = lost.of(s).filter(column => missing.exists(_.exprId == column.exprId))
          Some(s.copy(serializer = s.serializer ++ made))
        case a: BaseAggregateExec if StatefulNode.unapply(a.child).isDefined =>
          withGrouping(a, missing)
        case unary: UnaryExecNode =>
          child(unary.child).map(c => unary.withNewChildren(Seq(c)))
        case join @ (_: BroadcastHashJoinExec | _: BroadcastNestedLoopJoinExec) =>
          val wide = join.children.map(c => child(c).getOrElse(c))
          Some(join.withNewChildren(wide))
        case _ => None
      }).filter(wide => AttributeSet(columns ++ plan.output).subsetOf(wide.outputSet)).map { wide =>
        wide.copyTagsFrom(plan)
        wide
      }
  }

  /** The last step of an aggregation with more of its grouping columns. */
  private def withGrouping(node: BaseAggregateExec, more: Seq[Attribute]): Option[SparkPlan] = {
    val grouping = AttributeSet(node.groupingExpressions)
    val results: Seq[NamedExpression] = node.resultExpressions ++ more
    if (!more.forall(grouping.contains)) None
    else
      node match {
        case a: HashAggregateExec => Some(a.copy(resultExpressions = results))
        case a: ObjectHashAggregateExec => Some(a.copy(resultExpressions = results))
        case a: SortAggregateExec => Some(a.copy(resultExpressions = results))
        case _ => None
      }
  }
}
