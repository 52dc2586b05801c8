package org.apache.spark.sql.keyroute.handoff

import io.keyroute.core.table.RoutingTables

/** How often a run has tried to switch to the tables that were asked for last.
  *
  * @param target
  *   their version and hash
  * @param failed
  *   batches that could not switch
  * @param over
  *   whether the tables were refused: they are not tried again
  */
private[handoff] final case class SwitchAttempts(
    target: (Long, String),
    failed: Int,
    over: Boolean
) {

  /** Of these tables: a count begins anew with others. */
  def of(tables: RoutingTables): SwitchAttempts = {
    val wanted = (tables.version, tables.hash)
    if (wanted == target) this else SwitchAttempts(wanted, failed = 0, over = false)
  }

  def failedAgain: SwitchAttempts = copy(failed = failed + 1)

  def refused: SwitchAttempts = copy(over = true)
}

private[handoff] object SwitchAttempts {
  val None: SwitchAttempts = SwitchAttempts((0L, ""), failed = 0, over = false)
}

/** What became of a switch in one batch. */
private[handoff] sealed trait SwitchResult

/** @param state
  *   of the run after the switch */
private[handoff] final case class SwitchMade(state: RunState, switched: Switched)
    extends SwitchResult

/** @param forGood
  *   whether no later batch will do better */
private[handoff] final case class SwitchFailed(reason: String, forGood: Boolean)
    extends SwitchResult
