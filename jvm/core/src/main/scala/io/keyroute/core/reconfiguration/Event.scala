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

/** All that ZooKeeper holds of the query was read: what the driver is to say may be missing there,
  * after a loss of the session or of ZooKeeper's data. */
case object WorldSeen extends Event
