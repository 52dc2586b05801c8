package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.keyroute.state.StoreKeys

import io.keyroute.core.table.RoutingTables

/** Tables in force.
  *
  * @param hash
  *   of the tables as they were published
  */
private[handoff] final case class InForce(tables: RoutingTables, hash: String)

/** What a run remembers from batch to batch.
  *
  * @param history
  *   none where the run is not routed
  * @param tables
  *   in force, with an empty table for each group that they leave out
  * @param stores
  *   layout of all routed stores, once it was needed
  * @param untabled
  *   layout of the stores whose rows are to be sampled while there is no table
  * @param attempts
  *   at the switch that was asked for last
  */
private[handoff] final case class RunState(
    history: Option[RouteHistory],
    groups: RouteGroups,
    inForce: Option[InForce],
    tables: Broadcast[RoutingTables],
    stores: Option[Seq[StoreKeys]] = None,
    untabled: Seq[StoreKeys] = Nil,
    attempts: SwitchAttempts = SwitchAttempts.None
) {
  def version: Long = inForce.fold(0L)(_.tables.version)
}
