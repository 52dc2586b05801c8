package org.apache.spark.sql.keyroute.route

import io.keyroute.core.table.{GroupShape, RoutingTables}

/** Routes every batch as Spark does, and writes nothing. */
object NoTables extends BatchDecider {
  override def decide(batch: PlannedBatch): BatchDecision = {
    val routable = batch.groups.filter(_.unroutable.isEmpty)
    val shapes = routable.map { g =>
      GroupShape(
        g.id,
        g.operators,
        g.partitions,
        GroupShape.defaultSlots(g.partitions),
        g.routingOrdinals,
        g.keyNames,
        g.keyTypes,
        g.stableSlots
      )
    }
    val tables = RoutingTables.empty(batch.queryId.toString, shapes)
    BatchDecision(
      BatchRoute(
        batch.queryId,
        batch.runId,
        batch.batch,
        routable.flatMap(g => g.operators.map(_ -> g.id)).toMap,
        batch.session.sparkContext.broadcast(tables),
        0L,
        None
      ),
      batch.groups.flatMap(g => g.unroutable.toSeq.flatMap(r => g.operators.map(_ -> r))).toMap
    )
  }
}
