package org.apache.spark.sql.keyroute.handoff

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.publish.{Reconfigurations, RunningQuery, SwitchFigures}
import org.apache.spark.sql.keyroute.route.{PlannedBatch, StateProviders}

import io.keyroute.core.table.RoutingTables

/** The reconfigurations as a run talks to them: a part that the query does not need, so whatever
  * goes wrong there stays there. */
private[handoff] final class Desk(reconfigurations: () => Reconfigurations, batch: PlannedBatch)
    extends Logging {
  private val runId = batch.runId

  /** Says once a run what stays on Spark's hash, and why; the status says it for as long as it runs.
    */
  def started(query: RunningQuery): Unit = {
    val label = s"${Option(query.name).getOrElse("(unnamed)")} (${query.queryId})"
    query.bypass.foreach(why => logWarning(s"KeyRoute leaves query $label to Spark: $why"))
    for (o <- query.operators; why <- o.reason) logWarning(
      s"KeyRoute leaves operator ${o.id} (${o.name}) of query $label on Spark's hash: $why"
    )
    tell(_.started(query))
  }
  def postponed(reason: String): Unit = tell(_.postponed(runId, reason))
  def refused(version: Long, reason: String): Unit = tell(_.refused(runId, version, reason))
  def migrating(figures: SwitchFigures): Unit = tell(_.migrating(runId, figures))

  /** The tables to switch to, if there are any and they fit; others are refused.
    *
    * @param inForce
    *   version in force, 0 for none
    */
  def asked(groups: RouteGroups, inForce: Long): Option[RoutingTables] =
    guarded(reconfigurations().asked(runId), None).filter(_.version != inForce).flatMap { tables =>
      problem(tables, groups, inForce) match {
        case Right(_) => Some(tables)
        case Left(reason) =>
          refused(tables.version, reason)
          None
      }
    }

  private def problem(
      tables: RoutingTables,
      groups: RouteGroups,
      inForce: Long
  ): Either[String, Unit] =
    if (tables.version < inForce)
      Left(s"version $inForce is in force, and ${tables.version} is not greater")
    else if (
      !Settings.enabled.orDefault(batch.session.conf.getOption) &&
      !(inForce > 0 && tables.isEmpty)
    )
      Left(s"${Settings.enabled.key} is false" +
        (if (inForce > 0) ": only an empty table can take the place of the one in force" else ""))
    else tables.checkQuery(batch.queryId.toString)
      .flatMap(_ => tables.check(groups.shapes))
      .flatMap(_ => StateProviders.problem(batch.session.sessionState.conf).toLeft(()))

  private def tell(message: Reconfigurations => Unit): Unit =
    guarded(message(reconfigurations()), ())

  private def guarded[T](body: => T, otherwise: => T): T =
    try body
    catch {
      case NonFatal(e) =>
        logWarning("KeyRoute: reconfigurations do not answer; the query goes on", e)
        otherwise
    }
}
