package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeSet,
  Expression,
  NamedExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, SerializeFromObject}
import org.apache.spark.sql.catalyst.plans.{FullOuter, RightOuter}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.{SerializeFromObjectExec, SparkPlan, UnionExec}
import org.apache.spark.sql.keyroute.route.StatefulNode

/** The way of an exchange's rows, from the one operator that they come from.
  *
  * @param nodes
  *   the nodes of the way, the exchange's child first, the operator last
  */
private[count] final case class UpstreamPath(operator: StatefulNode, nodes: Seq[PathNode])

/** A node of the way.
  *
  * @param columns
  *   that it has, or could have
  * @param key
  *   for each column of the operator's key those that hold it, as they are called here: the first of them
  *   that is not null; None where one is lost
  */
private[count] final case class PathNode(
    columns: Seq[Attribute],
    key: Seq[Option[Seq[Attribute]]]
)

private[count] object UpstreamPath {

  /** An exchange of another kind in between ends the search: rows that were shuffled since are no longer
    * where the upstream key put them. None, too, where the rows come from several operators, or some of
    * them, by a branch of a union, from none. */
  def below(input: SparkPlan, lost: LostColumns): Option[UpstreamPath] = input match {
    case _: Exchange => None
    case StatefulNode(n) =>
      val keys = n.demands.flatten.map(_.key)
      // A side's key is null where a row of the other side has no partner.
      val key = (n.node, keys) match {
        case (join: StreamingSymmetricHashJoinExec, Seq(left, right)) => join.joinType match {
            case RightOuter => right.map(Seq(_))
            case FullOuter => left.zip(right).map { case (l, r) => Seq(l, r) }
            case _ => left.map(Seq(_))
          }
        case _ => keys.headOption.getOrElse(Nil).map(Seq(_))
      }
      Some(UpstreamPath(n, Seq(PathNode(input.output, key.map(asOutputs(_, input))))))
    case other =>
      val ways = other.children.map(below(_, lost))
      val mixed = other.isInstanceOf[UnionExec] && ways.contains(None)
      ways.flatten match {
        case Seq(one) if !mixed =>
          val key = one.nodes.head.key.map(_.flatMap(asOutputs(_, other)))
          Some(one.copy(nodes = PathNode(columns(other, lost), key) +: one.nodes))
        case _ => None
      }
  }

  private def columns(node: SparkPlan, lost: LostColumns): Seq[Attribute] = node match {
    case made: SerializeFromObjectExec => made.output ++ lost.of(made).map(_.toAttribute)
    case other => other.output
  }

  private def asOutputs(columns: Seq[Expression], node: SparkPlan): Option[Seq[Attribute]] = {
    val found = columns.flatMap(asOutput(_, node))
    Option.when(found.size == columns.size)(found)
  }

  /** The column as the node passes it on, under its own name or another. */
  private def asOutput(column: Expression, node: SparkPlan): Option[Attribute] = column match {
    case attribute: Attribute if node.outputSet.contains(attribute) => Some(attribute)
    case attribute: Attribute =>
      val renamed = node.expressions.collect {
        case alias @ Alias(source: Attribute, _) if source.exprId == attribute.exprId =>
          alias.toAttribute
      }
      renamed.find(AttributeSet(node.output).contains)
    case _ => None
  }
}

/** Columns of a user's objects that the optimiser left out since nobody reads them: the query as it was
  * before has them.
  *
  * @param analyzed
  *   None where it is not known
  */
private[count] final class LostColumns(analyzed: Option[LogicalPlan]) {

  /** What would make them of the object. */
  def of(node: SerializeFromObjectExec): Seq[NamedExpression] = {
    val made = node.child.output.headOption.map(_.exprId)
    analyzed.flatMap(_.collectFirst {
      case s: SerializeFromObject if s.child.output.headOption.map(_.exprId) == made => s.serializer
    }).getOrElse(Nil).filterNot(column => node.outputSet.contains(column.toAttribute))
  }
}

private[count] object LostColumns {
  val unknown: LostColumns = new LostColumns(None)
}
