package io.keyroute.core.reconfiguration

/** Identity of a version of a query's tables.
  * @param hash lower-case hex SHA-256 of the tables' bytes; empty for version 0, "no table" */
final case class Target(version: Long, hash: String)

/** The tables that committed batches were routed by, as `in_force` has it.
  * @param batch the batch since which they are; 0 for version 0 */
final case class InForce(tables: Target, batch: Long) {
  def version: Long = tables.version
}

/** Where a query's driver stands in a reconfiguration (design: staged reconfiguration; Caneill et al.
  * 2016, section 3.4). */
sealed trait State {

  /** The tables of the last committed batch, by the checkpoint. */
  def inForce: InForce
}

/** Nothing was asked for in this run. */
final case class Idle(inForce: InForce) extends State

/** A version is wanted: the shell is to read its tables from ZooKeeper, check hash and shape, and
  * store them in the checkpoint, as often as a lost connection makes it; the answer is
  * [[TableStored]] or [[TableRefused]].
  * @param told the word to switch is given already, as after a restart */
final case class Preparing(inForce: InForce, target: Target, told: Boolean) extends State

/** The tables are in the checkpoint; the acknowledgement is written. */
final case class Prepared(inForce: InForce, target: Target) extends State

/** The word to switch is given: the next batch that can switch does. */
final case class Told(inForce: InForce, target: Target) extends State

/** The route entry of the batch is written, which is the commit point; the batch is not committed.
  * @param next a version that became wanted meanwhile */
final case class Migrating(inForce: InForce, target: Target, batch: Long, next: Option[Target])
    extends State

/** The last reconfiguration of this run ended well; its tables are in force. */
final case class Committed(inForce: InForce) extends State

/** The last reconfiguration was given up before its route entry.
  * @param byDriver whether the driver gave it up, so that it is the one to say so */
final case class Aborted(inForce: InForce, target: Target, reason: String, byDriver: Boolean)
    extends State

object State {

  /** The state a run starts in, by the checkpoint alone.
    * @param uncommitted the switch whose route entry is there but whose batch is not committed: it
    *                    will be replayed, so it can no longer be given up */
  def restored(inForce: InForce, uncommitted: Option[(Target, Long)]): State =
    uncommitted match {
      case Some((target, batch)) => Migrating(inForce, target, batch, next = None)
      case None => Idle(inForce)
    }
}
