package io.keyroute.core.reconfiguration

import io.keyroute.proto.v1.Phase

/** What the driver's shell is to do, in this order, off the stream's thread. */
sealed trait Action

/** Let the next batch that can switch to these tables. */
final case class AllowSwitch(target: Target) extends Action

/** Take that back. A batch whose route entry is written switches none the less. */
final case class WithdrawSwitch(target: Target) extends Action

/** Write `reconfiguration`, where [[PhaseOrder.replaces]] says so.
  * @param batch the batch that switches; 0 before MIGRATE */
final case class WritePhase(phase: Phase, target: Target, batch: Long, reason: String)
    extends Action

/** Write `in_force`, unless it is there and equal. */
final case class WriteInForce(inForce: InForce) extends Action

/** Nothing to do, and why; for the log. */
final case class Ignored(why: String) extends Action
