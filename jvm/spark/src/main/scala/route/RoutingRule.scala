package org.apache.spark.sql.keyroute.route

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.keyroute.SparkSeam
import org.apache.spark.sql.keyroute.count.UpstreamKeyNotes
import org.apache.spark.sql.keyroute.plugin.{Driver, Settings}

import io.keyroute.core.table.GroupShape

/** Sees every plan after Spark has placed its exchanges, and routes those of micro-batches: find the
  * groups, decide the tables, put them into the plan, place the partitions.
  *
  * @param session
  *   the stream's own (Spark clones one for each query)
  */
final class RoutingRule(session: SparkSession, decider: BatchDecider)
    extends Rule[SparkPlan]
    with Logging {

  override def apply(plan: SparkPlan): SparkPlan = {
    val nodes = StatefulNode.allIn(plan)
    val query = nodes.headOption.flatMap(n => RunningBatch.queryOf(session, n.info))
    val routed = query.fold(plan)(route(plan, nodes, _))
    if (StateProviders.isOurs(session.sessionState.conf)) SparkSeam.acceptProvider(routed)
    else routed
  }

  private def route(
      plan: SparkPlan,
      nodes: Seq[StatefulNode],
      query: StreamExecution
  ): SparkPlan = {
    val batch = plannedBatch(plan, nodes, query)
    val decision = decider.decide(batch)
    val routed = transform(plan, batch, decision.route, query)
    placePartitions(batch, decision.route)
    routed
  }

  private def plannedBatch(
      plan: SparkPlan,
      nodes: Seq[StatefulNode],
      query: StreamExecution
  ): PlannedBatch =
    PlannedBatch(
      session,
      query.id,
      query.runId,
      Option(query.name).getOrElse(""),
      nodes.head.info.storeVersion,
      new Path(query.resolvedCheckpointRoot),
      GroupFinder.operators(nodes),
      groups(plan, query)
    )

  /** Of a plan that cannot be read none is known: a query without tables then stays on Spark's hash,
    * and one with tables goes by its route log. */
  private def groups(plan: SparkPlan, query: StreamExecution): Seq[PlannedGroup] =
    try GroupFinder.groups(plan, bypass(query))
    catch {
      case NonFatal(e) =>
        logWarning(s"KeyRoute finds no routing groups in a plan of query ${query.id}", e)
        Nil
    }

  /** Why the whole query stays on Spark's hash. */
  private def bypass(query: StreamExecution): Option[String] =
    if (!Settings.enabled.orDefault(session.conf.getOption))
      Some(s"${Settings.enabled.key} is false")
    else if (SparkSeam.isRealTime(query)) Some("it runs in real-time mode")
    else StateProviders.problem(session.sessionState.conf)

  /** Without a table the plan is as good as it came, so that nothing here may stop the query. */
  private def transform(
      plan: SparkPlan,
      batch: PlannedBatch,
      route: BatchRoute,
      query: StreamExecution
  ): SparkPlan =
    if (route.groupOf.isEmpty) plan
    else
      try
        UpstreamKeyNotes.in(
          new PlanRouter(route, shapes(batch, route)).apply(plan),
          Option(query.logicalPlan)
        )
      catch {
        case NonFatal(e) if route.version == 0 =>
          logWarning(s"KeyRoute leaves batch ${batch.batch} of query ${batch.queryId} to Spark", e)
          plan
      }

  /** Of the tables, as the route log has them; a group without a table is as this plan shows it. */
  private def shapes(batch: PlannedBatch, route: BatchRoute): Map[Long, GroupShape] =
    route.groupOf.values.toSet[Long].map { group =>
      val known = route.tables.value.table(group).map(_.shape)
      group -> known.getOrElse(plannedShape(batch, route, group))
    }.toMap

  private def plannedShape(batch: PlannedBatch, route: BatchRoute, group: Long): GroupShape = {
    val operators = route.groupOf.collect { case (operator, `group`) => operator }.toSeq.sorted
    val planned = batch.groups.find(_.operators.exists(operators.contains)).getOrElse(
      throw new KeyRouteException(
        s"routing group $group is not in the plan of batch ${batch.batch}"
      )
    )
    GroupShape(
      group,
      operators,
      planned.partitions,
      GroupShape.defaultSlots(planned.partitions),
      planned.routingOrdinals,
      planned.keyNames,
      planned.keyTypes,
      planned.stableSlots
    )
  }

  private def placePartitions(batch: PlannedBatch, route: BatchRoute): Unit =
    if (Settings.placementEnabled.orDefault(session.conf.getOption))
      Driver.placement.foreach { placement =>
        try placement.beforeBatch(batch, route.tables.value.parts)
        catch {
          case NonFatal(e) =>
            logWarning(s"KeyRoute did not place batch ${batch.batch} of query ${batch.queryId}", e)
        }
      }
}
