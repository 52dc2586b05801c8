package org.apache.spark.sql.keyroute.route

import java.util.UUID

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.keyroute.handoff.Switch
import org.apache.spark.sql.keyroute.state.StoreKeys

import io.keyroute.core.table.RoutingTables

/** What the tasks of one micro-batch need to know of its routing. It travels in the RDD of the
  * routed exchange, or of a carrier directly under an operator, and reaches the state store through
  * [[TaskRoute]].
  *
  * @param groupOf
  *   group of each routed operator; an operator that is not here stays on Spark's hash
  * @param tables
  *   in force in this batch; version 0 is no table
  * @param switch
  *   in the batch that switches: what moves, and where it lies. A broadcast as the tables are, since it
  *   grows with the square of the number of partitions, and each task carries the route
  * @param stores
  *   layout of the keys of each routed store, while a table is in force
  */
final case class BatchRoute(
    queryId: UUID,
    runId: UUID,
    batch: Long,
    groupOf: Map[Long, Long],
    tables: Broadcast[RoutingTables],
    version: Long,
    switch: Option[Broadcast[Switch]],
    stores: Seq[StoreKeys] = Nil
)

/** The decision for one batch.
  *
  * @param bypassed
  *   operators that stay on Spark's hash, and why
  */
final case class BatchDecision(route: BatchRoute, bypassed: Map[Long, String])

/** Decides by which tables a batch is routed. Called once a batch on the stream's thread. */
trait BatchDecider {

  /** @throws KeyRouteException
    *   where the batch cannot be routed rightly; the query stops with its message
    */
  def decide(batch: PlannedBatch): BatchDecision
}

/** An error for people: what is wrong and what to do. */
class KeyRouteException(message: String, cause: Throwable = null)
    extends RuntimeException(message, cause)
