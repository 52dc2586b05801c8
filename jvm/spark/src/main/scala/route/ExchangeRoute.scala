package org.apache.spark.sql.keyroute.route

import io.keyroute.core.table.{GroupShape, GroupTable}

/** What a routed exchange takes from its batch, beside what its node shows.
  *
  * @param shapes
  *   of every group of the route
  */
final case class ExchangeRoute(route: BatchRoute, shapes: Map[Long, GroupShape]) {

  /** On the driver and on executors (it reads the broadcast). */
  def table(group: Long): GroupTable =
    route.tables.value.table(group).getOrElse(GroupTable.empty(shapes(group)))
}
