package org.apache.spark.sql.keyroute.route

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SessionWindow, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinExec
import org.apache.spark.sql.execution.streaming.operators.stateful.{
  StateStoreSaveExec,
  StateStoreWriter
}
import org.apache.spark.sql.types.DataType

/** Finds the routing groups of a batch's plan: operators that are reached from each other without an
  * exchange between them, so that their state must lie alike. Pure. */
object GroupFinder {

  /** The operators with keyed state, by ascending id.
    * @param nodes
    *   of one plan
    */
  def operators(nodes: Seq[StatefulNode]): Seq[PlannedOperator] =
    nodes.flatMap { n =>
      n.node match {
        case writer: StateStoreWriter =>
          Some(PlannedOperator(
            n.info,
            writer.shortName,
            writer.stateStoreNames,
            stateFormat(n.node)
          ))
        case _ => None
      }
    }.distinctBy(_.id).sortBy(_.id)

  /** The groups, by ascending id.
    *
    * @param bypass
    *   why no group of the query can be routed, where that is so
    */
  def groups(plan: SparkPlan, bypass: Option[String]): Seq[PlannedGroup] = {
    val nodes = StatefulNode.allIn(plan)
    components(plan).map { ids =>
      group(ids.toSeq.sorted, nodes.filter(n => ids.contains(n.id)), bypass)
    }.sortBy(_.id)
  }

  private def group(
      ids: Seq[Long],
      nodes: Seq[StatefulNode],
      bypass: Option[String]
  ): PlannedGroup = {
    val sorted = nodes.sortBy(_.id)
    val keys = sorted.flatMap(_.demands.flatten)
    val key = keys.head.key
    val temporal = sorted.flatMap(_.steadyDemands).map(_.key.map(isTemporal))
    // Left out only where every exchange of the group agrees.
    val routing = key.indices.filterNot(i => temporal.forall(t => t.isDefinedAt(i) && t(i)))
    PlannedGroup(
      operators = ids,
      partitions = keys.head.partitions,
      keyNames = key.map(nameOf),
      keyTypes = key.map(_.dataType.sql),
      routingOrdinals = routing,
      stableSlots = !temporal.exists(_.contains(true)),
      unroutable = bypass.orElse(problem(keys))
    )
  }

  private def problem(keys: Seq[KeyDemand]): Option[String] =
    if (keys.exists(!_.strict))
      Some("its checkpoint was made without strict distribution " +
        "(spark.sql.streaming.statefulOperator.useStrictDistribution=false)")
    else if (keys.map(_.partitions).distinct.size > 1) Some("its operators differ in partitions")
    else if (!keys.forall(k => KeyTypes.alike(typesOf(k), typesOf(keys.head))))
      Some("its operators share an exchange but differ in the types of their keys")
    else if (keys.head.partitions == 1) Some("it has one partition")
    else None

  private def typesOf(demand: KeyDemand): Seq[DataType] = demand.key.map(_.dataType)

  /** Sets of operator ids. */
  private def components(plan: SparkPlan): Seq[Set[Long]] = {
    val union = new UnionFind
    // Operators of a subtree that are reached from above it without an exchange.
    def open(node: SparkPlan): Set[Long] = node match {
      case exchange: Exchange =>
        exchange.children.foreach(open)
        Set.empty
      case StatefulNode(n) =>
        union.join(n.node.children.flatMap(open).toSet + n.id)
        Set(n.id)
      case other => other.children.flatMap(open).toSet
    }
    open(plan)
    union.sets
  }

  /** Whether the column's values never come back: a window, a session, an event time. */
  private def isTemporal(column: Expression): Boolean = column match {
    case attribute: Attribute => TemporalKeys.exists(attribute.metadata.contains)
    case _ => false
  }

  private val TemporalKeys: Seq[String] =
    Seq(TimeWindow.marker, SessionWindow.marker, EventTimeWatermark.delayKey)

  private def nameOf(column: Expression): String = column match {
    case attribute: Attribute => attribute.name
    case other => other.sql
  }

  private def stateFormat(writer: SparkPlan): Option[Int] = writer match {
    case save: StateStoreSaveExec => Some(save.stateFormatVersion)
    case join: StreamingSymmetricHashJoinExec => Some(join.stateFormatVersion)
    case _ => None
  }

  private final class UnionFind {
    private val setOf = mutable.Map.empty[Long, Set[Long]]

    def join(ids: Set[Long]): Unit = {
      val joined = ids.flatMap(id => setOf.getOrElse(id, Set(id)))
      joined.foreach(setOf(_) = joined)
    }

    def sets: Seq[Set[Long]] = setOf.values.toSeq.distinct
  }
}
