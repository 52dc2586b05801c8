package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
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
) {

  /** The most counters of a sketch that each of so many map tasks sends to the driver: together about
    * as many as the sketch has, so that a batch of many tasks does not flood it. */
  def sentBy(mapTasks: Int): Int =
    math.max(CountedExchange.LeastSent, counters / math.max(1, mapTasks))
}

object CountedExchange extends Logging {

  /** Counters that a map task sends at least, if it has so many. */
  val LeastSent: Int = 1024

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
      route.version,
      Settings.statisticsCounters.orDefault(setting),
      UpstreamKey.find(exchange.child, exchange.routing, key)
    )
  }
}
