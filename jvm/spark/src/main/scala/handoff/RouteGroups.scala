package org.apache.spark.sql.keyroute.handoff

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.{
  KeyRouteException,
  KeyTypes,
  PlannedBatch,
  PlannedGroup,
  RunningBatch
}
import org.apache.spark.sql.keyroute.state.StoreKeys

import io.keyroute.core.routelog.RouteEntry
import io.keyroute.core.table.{GroupShape, RoutingTables}

/** The routing groups of a query. Once there is a table the route entries fix them, whatever shape a
  * later plan has; before, each run plans them anew.
  *
  * @param bypassed
  *   operators that stay on Spark's hash, and why
  */
private[handoff] final case class RouteGroups(
    shapes: Seq[GroupShape],
    bypassed: Map[Long, String]
) extends Logging {

  /** Group of each operator that is routed. */
  val groupOf: Map[Long, Long] = (for (s <- shapes; o <- s.operators) yield o -> s.group).toMap

  /** The tables with an empty one for each group that they leave out. */
  def complete(tables: RoutingTables): RoutingTables =
    RoutingTables(tables.version, tables.queryId, shapes.map(tables.tableFor), tables.parts)

  /** Compares with a batch's plan. Operators count, not the plan's groups: an exchange may be missing
    * in this plan, and two groups be one.
    *
    * @param inForce
    *   whether tables are in force; if not, what does not fit stays on Spark's hash
    * @throws KeyRouteException
    *   if tables are in force and something does not fit */
  def checked(batch: PlannedBatch, inForce: Boolean): RouteGroups = {
    val problems = for {
      shape <- shapes
      planned <- batch.groups if planned.operators.exists(shape.operators.contains)
      problem <- RouteGroups.difference(shape, planned)
        .orElse(if (inForce) None else planned.unroutable)
    } yield shape -> problem
    if (inForce) problems.headOption.foreach { case (shape, problem) =>
      throw new KeyRouteException(
        s"routing group ${shape.group} of the query is not what its checkpoint says: $problem. " +
          "Its state is laid out by a routing table, so it cannot go on: start the query as it was."
      )
    }
    val dropped = problems.flatMap { case (s, problem) => s.operators.map(_ -> problem) }.toMap
    if (dropped.isEmpty) this
    else RouteGroups(shapes.filterNot(_.operators.exists(dropped.contains)), bypassed ++ dropped)
  }

  /** Layout of all stores of the routed operators in a batch's plan.
    * @throws KeyRouteException
    *   if it cannot be known */
  def stores(batch: PlannedBatch): Seq[StoreKeys] =
    for {
      shape <- shapes
      operator <- batch.operators if shape.operators.contains(operator.id)
      keys <- StateKeys.of(operator, shape, batch.session)
        .fold(reason => throw new KeyRouteException(reason), identity)
    } yield keys

  /** Layout of the stores whose rows are to be sampled although no table is known: they must lie by
    * Spark's hash, and a route log that has lost its end does not tell. None where it cannot be known
    * or the user vouches for it. */
  def storesToSample(batch: PlannedBatch): Seq[StoreKeys] =
    if (batch.batch == 0 || Settings.assumeNoTable.orDefault(batch.session.conf.getOption)) Nil
    else
      try stores(batch)
      catch {
        case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
          logInfo(s"KeyRoute does not sample the state of ${batch.checkpoint}: ${e.getMessage}")
          Nil
      }
}

private[handoff] object RouteGroups {

  /** As an entry has them. */
  def of(entry: RouteEntry): RouteGroups =
    RouteGroups(entry.groups, entry.bypassed.map(b => b.operator -> b.reason).toMap)

  /** Of a query that never had a table: what can be routed is decided here, once a run. */
  def planned(batch: PlannedBatch): RouteGroups = {
    val tried = batch.groups.map(g => g -> shapeOf(batch, g))
    val grouped = batch.groups.flatMap(_.operators).toSet
    val alone = batch.operators.map(_.id).filterNot(grouped)
      .map(_ -> "it has no exchange of its own by a key")
    RouteGroups(
      tried.collect { case (_, Right(shape)) => shape }.sortBy(_.group),
      (alone ++ tried.collect { case (g, Left(why)) => g.operators.map(_ -> why) }.flatten).toMap
    )
  }

  private def shapeOf(batch: PlannedBatch, group: PlannedGroup): Either[String, GroupShape] =
    group.unroutable.toLeft(())
      .flatMap(_ => built(batch, group))
      .flatMap { shape =>
        val operators = batch.operators.filter(o => shape.operators.contains(o.id))
        operators.map(StateKeys.of(_, shape, batch.session))
          .collectFirst { case Left(reason) => reason }
          .orElse(Option.when(operators.size != shape.operators.size)(
            "not all of its group's operators are in the plan"
          ))
          .toLeft(shape)
      }

  private def built(batch: PlannedBatch, group: PlannedGroup): Either[String, GroupShape] =
    try {
      val wanted = Settings.slots.orDefault(batch.session.conf.getOption)
      val n = group.partitions
      val slots = if (wanted <= 0) GroupShape.defaultSlots(n) else (wanted + n - 1) / n * n
      Right(GroupShape(
        group.id,
        group.operators.sorted,
        n,
        slots,
        group.routingOrdinals,
        group.keyNames,
        group.keyTypes,
        group.stableSlots
      ))
    } catch { case NonFatal(e) => Left(e.toString) }

  /** What of a plan's group contradicts a shape. Names of columns do not: they decide nothing. Nor
    * does which columns the plan would be routed by, as after a watermark came or went: the shape's
    * are what rows and state go by. */
  private def difference(shape: GroupShape, planned: PlannedGroup): Option[String] =
    if (planned.partitions != shape.partitions)
      Some(s"it has ${planned.partitions} partitions, not ${shape.partitions}")
    else if (!KeyTypes.alike(KeyTypes.ofDdl(shape.keyTypes), KeyTypes.ofDdl(planned.keyTypes)))
      Some(s"its key has the types ${planned.keyTypes.mkString(", ")}, not " +
        shape.keyTypes.mkString(", "))
    else None
}
