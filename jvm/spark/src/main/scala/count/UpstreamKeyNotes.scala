package org.apache.spark.sql.keyroute.count

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.aggregate.{Partial, PartialMerge}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.{RoutedExchangeExec, StatefulNode}

/** Puts an [[UpstreamKeyExec]] below those exchanges whose rows have lost the upstream key, and carries
  * its columns up to there: the optimiser leaves out what nobody reads, and a partial aggregation keeps
  * only what it groups by. Results, and the rows that are shuffled, stay as they are. */
object UpstreamKeyNotes extends Logging {

  /** @param analyzed
    *   the query before the optimiser saw it
    */
  def in(plan: SparkPlan, analyzed: => Option[LogicalPlan]): SparkPlan = {
    lazy val lost = new LostColumns(analyzed)
    plan.transformUp { case exchange: RoutedExchangeExec => noted(exchange, lost) }
  }

  private def noted(exchange: RoutedExchangeExec, lost: => LostColumns): SparkPlan =
    try {
      val setting = (name: String) => Option(exchange.conf.getConfString(name, null))
      val wanted = Settings.statisticsEnabled.orDefault(setting) &&
        Settings.statisticsCarryUpstreamKey.orDefault(setting)
      val input = if (wanted) in(exchange, setting, lost) else None
      input.fold[SparkPlan](exchange)(child => exchange.withNewChildren(Seq(child)))
    } catch {
      case NonFatal(e) =>
        logWarning(s"the upstream key of routing group ${exchange.group} is not looked for", e)
        exchange
    }

  /** None where the rows have the key, or it cannot be had. */
  private def in(
      exchange: RoutedExchangeExec,
      setting: String => Option[String],
      lost: LostColumns
  ): Option[SparkPlan] = {
    val input = exchange.child
    val most = CountLimits.of(setting).counters
    def note(key: UpstreamKey): Option[SparkPlan] =
      below(input, exchange.hash.expressions, aggregated = false) { (rows, exchangeKey) =>
        CarriedColumns.upTo(rows, key.needed, lost).map { wide =>
          val output = if (exchangeKey.isEmpty) rows.output else wide.output
          UpstreamKeyExec(key.columns, exchangeKey, output, wide)(
            key.copy(noted = true),
            exchange.routing.route.batch,
            most
          )
        }
      }
    // The surest that can be had. What the rows have themselves needs no note.
    UpstreamKey
      .all(input, exchange.routing, Settings.statisticsUpstreamKey.orDefault(setting), lost)
      .iterator.map(key => if (key.isIn(input)) Some(None) else note(key).map(Some(_)))
      .collectFirst { case Some(found) => found }.flatten
  }

  /** Puts a node below the partial aggregations on top of a plan.
    * @param place
    *   given the rows and the exchange's key over their columns, empty where there is no aggregation
    */
  private def below(plan: SparkPlan, key: Seq[Expression], aggregated: Boolean)(
      place: (SparkPlan, Seq[Expression]) => Option[SparkPlan]
  ): Option[SparkPlan] = plan match {
    case partial: BaseAggregateExec if isPartial(partial) =>
      // Spark works out what is grouped by before, so that the input has the key's columns.
      if (key.forall(_.references.subsetOf(partial.child.outputSet)))
        below(partial.child, key, aggregated = true)(place)
          .map(child => partial.withNewChildren(Seq(child)))
      else None
    case rows => place(rows, if (aggregated) key else Nil)
  }

  /** Of the downstream operator; the last step of an upstream one is directly above its state. */
  private def isPartial(node: BaseAggregateExec): Boolean =
    node.aggregateExpressions.forall(a => a.mode == Partial || a.mode == PartialMerge) &&
      StatefulNode.unapply(node.child).isEmpty
}
