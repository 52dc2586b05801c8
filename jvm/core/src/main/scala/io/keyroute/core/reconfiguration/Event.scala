package io.keyroute.core.reconfiguration

import io.keyroute.proto.v1.Phase

/** What happened, as the driver's shell saw it. */
sealed trait Event

/** `wanted` names this version. */
final case class WantedSeen(target: Target) extends Event

/** Its tables are read, checked and stored in the checkpoint. */
final case class TableStored(target: Target) extends Event

/** Its tables must not be used: damaged, of another shape, or the switch costs too much. In the last
  * case only the stream's thread may say so, which is the one that writes route entries. */
final case class TableRefused(target: Target, reason: String) extends Event

/** `reconfiguration` has this content. */
final case class PhaseSeen(phase: Phase, target: Target, reason: String) extends Event

/** The stream's thread wrote the route entry of a batch that switches to this version. */
final case class SwitchPlanned(target: Target, batch: Long) extends Event

/** Spark committed a batch. */
final case class BatchCommitted(batch: Long) extends Event

/** There is a session with ZooKeeper: the first one, or one after a loss. */
case object Reconnected extends Event

/** `in_force` has this content. */
final case class InForceSeen(inForce: InForce) extends Event

/** A node that the driver writes is not there. */
final case class NodeMissing(node: Node) extends Event

sealed trait Node

object Node {
  case object InForce extends Node
  case object Reconfiguration extends Node
}
