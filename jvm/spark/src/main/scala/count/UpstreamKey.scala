package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.RightOuter
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.keyroute.route.{ExchangeRoute, KeyHash, StatefulNode}

import io.keyroute.core.table.GroupShape

/** The key that routed an exchange's rows to the stateful operator they come from.
  *
  * @param group
  *   of the upstream operator
  * @param how
  *   it was found: `attribute`, `setting` or `name`
  * @param key
  *   over the exchange's input; its fingerprint is the one that routed the row upstream
  * @param slots
  *   S of the upstream group, where its slots are stable: then the key's hash is the one that gave the
  *   row its slot, too
  */
final case class UpstreamKey(group: Long, how: String, key: KeyHash, slots: Option[Int])

/** Finds it in the plan below an exchange. An exchange of another kind in between ends the search:
  * rows that were shuffled since are no longer where the upstream key put them. Below a partial
  * aggregation of the downstream operator only the columns that it groups by are left to look at;
  * rows are counted above it, as they cross the exchange. */
object UpstreamKey {

  /** @param input
    *   the exchange's child
    * @param setting
    *   names of the upstream key's columns as the user gives them, comma-separated; may be empty
    */
  def find(input: SparkPlan, routing: ExchangeRoute, setting: String): Option[UpstreamKey] =
    nearest(input).flatMap { upstream =>
      routing.route.groupOf.get(upstream.node.id).flatMap { group =>
        val shape = routing.shapes(group)
        Option.when(shape.routingOrdinals.nonEmpty)(shape).flatMap { _ =>
          byAttribute(shape, upstream.key).map("attribute" -> _)
            .orElse(bySetting(shape, setting, input).map("setting" -> _))
            .orElse(byName(
              shape,
              shape.routingOrdinals.map(shape.keyNames),
              input
            ).map("name" -> _))
            .map { case (how, columns) =>
              // Where slots are stable, the routing columns are the whole key, in order.
              val slots = Option.when(shape.stableSlots)(shape.slots)
              UpstreamKey(group, how, KeyHash(columns, columns.indices), slots)
            }
        }
      }
    }

  /** An operator, and the columns of its key as they are called further up; None where one is lost. */
  private final case class Traced(node: StatefulNode, key: Seq[Option[Attribute]])

  /** The one operator that all rows come from. */
  private def nearest(plan: SparkPlan): Option[Traced] = plan match {
    case _: Exchange => None
    case StatefulNode(n) =>
      val keys = n.demands.flatten.map(_.key)
      // The left key is null where a right row has no partner.
      val key = n.node match {
        case join: StreamingSymmetricHashJoinExec if join.joinType == RightOuter => keys.last
        case _ => keys.headOption.getOrElse(Nil)
      }
      Some(Traced(n, key.map(asOutput(_, plan))))
    case other =>
      other.children.flatMap(nearest) match {
        case Seq(one) =>
          Some(one.copy(key = one.key.map(_.flatMap(asOutput(_, other)))))
        case _ => None
      }
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

  private def byAttribute(
      shape: GroupShape,
      key: Seq[Option[Attribute]]
  ): Option[Seq[Attribute]] =
    all(shape.routingOrdinals.map(i => key.lift(i).flatten.filter(hasType(_, shape.keyTypes(i)))))

  private def byName(
      shape: GroupShape,
      names: Seq[String],
      input: SparkPlan
  ): Option[Seq[Attribute]] =
    all(shape.routingOrdinals.zip(names).map { case (ordinal, name) =>
      input.output.filter(a => input.conf.resolver(a.name, name)) match {
        case Seq(one) if hasType(one, shape.keyTypes(ordinal)) => Some(one)
        case _ => None
      }
    })

  private def bySetting(
      shape: GroupShape,
      setting: String,
      input: SparkPlan
  ): Option[Seq[Attribute]] = {
    val names = setting.split(',').toSeq.map(_.trim).filter(_.nonEmpty)
    Option.when(names.size == shape.routingOrdinals.size)(names).flatMap(byName(shape, _, input))
  }

  private def hasType(column: Attribute, ddl: String): Boolean = column.dataType.sql == ddl

  private def all[T](options: Seq[Option[T]]): Option[Seq[T]] =
    Option.when(options.forall(_.isDefined))(options.flatten)
}
