package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}
import org.apache.spark.sql.execution.{CoalesceExec, SparkPlan}
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.RoutedExchangeExec

/** Names an exchange of a batch in reports. */
final case class ExchangeId(runId: UUID, batch: Long, group: Long, number: Int)

/** What the tasks of an exchange need in order to count.
  *
  * @param readsSource
  *   whether a map partition is a partition of a source, with no exchange in between
  */
final case class CountedExchange(
    id: ExchangeId,
    limits: CountLimits,
    upstream: Option[UpstreamKey],
    readsSource: Boolean
)

object CountedExchange extends Logging {

  /** None where statistics are off. On the driver. What cannot be found out is warned of, and the
    * exchange not counted: a batch does not stop for its statistics. */
  def of(exchange: RoutedExchangeExec): Option[CountedExchange] =
    try {
      val setting = (name: String) => Option(exchange.conf.getConfString(name, null))
      Option.when(Settings.statisticsEnabled.orDefault(setting))(counted(exchange, setting))
    } catch {
      case NonFatal(e) =>
        logWarning(s"an exchange of routing group ${exchange.group} is not counted", e)
        None
    }

  private def counted(
      exchange: RoutedExchangeExec,
      setting: String => Option[String]
  ): CountedExchange = {
    val route = exchange.routing.route
    val number = exchange.getTagValue(RoutedExchangeExec.Number).getOrElse(0)
    val key = Settings.statisticsUpstreamKey.orDefault(setting)
    CountedExchange(
      ExchangeId(route.runId, route.batch, exchange.group, number),
      CountLimits.of(setting),
      UpstreamKey.find(exchange.child, exchange.routing, key),
      !exchange.child.exists(rearranges)
    )
  }

  // A broadcast leaves the partitions of the rows that it is joined with as they are.
  private def rearranges(node: SparkPlan): Boolean = node match {
    case _: ShuffleExchangeLike | _: ReusedExchangeExec | _: CoalesceExec => true
    case _ => false
  }
}
