package org.apache.spark.sql.keyroute.count

import java.util.UUID

import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.RoutedExchangeExec

/** Names an exchange of a batch in reports. */
final case class ExchangeId(runId: UUID, batch: Long, group: Long, number: Int)

/** What the tasks of an exchange need in order to count.
  *
  * @param version
  *   of the batch's tables
  * @param counters
  *   of each sketch
  */
final case class CountedExchange(
    id: ExchangeId,
    version: Long,
    counters: Int,
    upstream: Option[UpstreamKey]
)

object CountedExchange {

  /** None where statistics are off. On the driver. */
  def of(exchange: RoutedExchangeExec): Option[CountedExchange] = {
    val setting = (name: String) => Option(exchange.conf.getConfString(name, null))
    Option.when(Settings.statisticsEnabled.in(setting)) {
      val route = exchange.routing.route
      CountedExchange(
        ExchangeId(
          route.runId,
          route.batch,
          exchange.group,
          exchange.getTagValue(RoutedExchangeExec.Number).getOrElse(0)
        ),
        route.version,
        Settings.statisticsCounters.in(setting),
        UpstreamKey.find(
          exchange.child,
          exchange.routing,
          Settings.statisticsUpstreamKey.in(setting)
        )
      )
    }
  }
}
