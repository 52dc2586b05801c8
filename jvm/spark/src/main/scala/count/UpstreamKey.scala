package org.apache.spark.sql.keyroute.count

import org.apache.spark.sql.catalyst.expressions.{Attribute, Coalesce, Expression}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.keyroute.route.{ExchangeRoute, KeyHash, StatefulNode}

import io.keyroute.core.table.GroupShape

/** The key that routed an exchange's rows to the stateful operator they come from.
  *
  * @param group
  *   of the upstream operator
  * @param how
  *   it was found: `attribute`, `setting` or `name`
  * @param columns
  *   the routing columns of the upstream operator; their fingerprint is the one that routed the row there
  * @param slots
  *   S of the upstream group, where its slots are stable: then the key's hash is the one that gave the
  *   row its slot, too
  * @param noted
  *   whether the exchange's input has the columns no more: an [[UpstreamKeyExec]] below noted the key
  */
final case class UpstreamKey(
    group: Long,
    how: String,
    columns: Seq[Expression],
    slots: Option[Int],
    noted: Boolean = false
) {

  /** Where slots are stable, the routing columns are the whole key, in order. */
  def key: KeyHash = KeyHash(columns, columns.indices)

  /** Whether these rows have the columns. */
  def isIn(rows: SparkPlan): Boolean = needed.forall(rows.outputSet.contains)

  /** What the columns are made of. */
  def needed: Seq[Attribute] = columns.flatMap(_.references)
}

/** Finds it in the plan below an exchange. */
object UpstreamKey {

  /** @param input
    *   the exchange's child
    * @param setting
    *   names of the upstream key's columns as the user gives them, comma-separated; may be empty
    */
  def find(input: SparkPlan, routing: ExchangeRoute, setting: String): Option[UpstreamKey] =
    notedIn(input).orElse(all(input, routing, setting, LostColumns.unknown).find(_.isIn(input)))

  /** All that the upstream key may be, the surest first; its columns are those of some node on the way. */
  private[count] def all(
      input: SparkPlan,
      routing: ExchangeRoute,
      setting: String,
      lost: LostColumns
  ): Seq[UpstreamKey] =
    for {
      path <- UpstreamPath.below(input, lost).toSeq
      group <- routing.route.groupOf.get(path.operator.id).toSeq
      shape = routing.shapes(group) if shape.routingOrdinals.nonEmpty
      (how, columns) <- path.nodes.flatMap(byAttribute(shape, _).map("attribute" -> _)) ++
        path.nodes.flatMap(bySetting(shape, setting, input, _).map("setting" -> _)) ++
        path.nodes.flatMap(byName(shape, namesOf(shape), input, _).map("name" -> _))
    } yield UpstreamKey(group, how, columns, Option.when(shape.stableSlots)(shape.slots))

  private def notedIn(input: SparkPlan): Option[UpstreamKey] = input match {
    case node: UpstreamKeyExec => Some(node.upstream)
    case _: Exchange | StatefulNode(_) => None
    case other => other.children.flatMap(notedIn).headOption
  }

  private def namesOf(shape: GroupShape): Seq[String] = shape.routingOrdinals.map(shape.keyNames)

  private def byAttribute(shape: GroupShape, node: PathNode): Option[Seq[Expression]] =
    whole(shape.routingOrdinals.map { i =>
      node.key.lift(i).flatten.filter(_.forall(hasType(_, shape.keyTypes(i)))).map {
        case Seq(one) => one
        case several => Coalesce(several)
      }
    })

  private def byName(
      shape: GroupShape,
      names: Seq[String],
      input: SparkPlan,
      node: PathNode
  ): Option[Seq[Attribute]] =
    whole(shape.routingOrdinals.zip(names).map { case (ordinal, name) =>
      node.columns.filter(a => input.conf.resolver(a.name, name)) match {
        case Seq(one) if hasType(one, shape.keyTypes(ordinal)) => Some(one)
        case _ => None
      }
    })

  private def bySetting(
      shape: GroupShape,
      setting: String,
      input: SparkPlan,
      node: PathNode
  ): Option[Seq[Attribute]] = {
    val names = setting.split(',').toSeq.map(_.trim).filter(_.nonEmpty)
    Option.when(names.size == shape.routingOrdinals.size)(names)
      .flatMap(byName(shape, _, input, node))
  }

  private def hasType(column: Attribute, ddl: String): Boolean = column.dataType.sql == ddl

  private def whole[T](options: Seq[Option[T]]): Option[Seq[T]] =
    Option.when(options.forall(_.isDefined))(options.flatten)
}
