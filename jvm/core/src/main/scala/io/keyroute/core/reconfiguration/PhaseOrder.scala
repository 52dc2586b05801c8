package io.keyroute.core.reconfiguration

import io.keyroute.proto.v1.{Phase, Reconfiguration}

/** Which phase may be written over which. The shell writes with the znode version that it read, and
  * asks here with what it read; so a late or repeated write never turns a reconfiguration back. */
object PhaseOrder {

  /** Whether the write is due over what is there. A newer version's reconfiguration is left alone; of
    * the same version, only a later phase is written, or MIGRATE with another batch, after the
    * checkpoint was rolled back. MIGRATE is over ABORT: the route entry decides. */
  def replaces(found: Option[Reconfiguration], write: WritePhase): Boolean =
    found.forall { there =>
      val (rank, thereRank) = (rankOf(write.phase), rankOf(there.getPhase))
      there.getVersion < write.target.version ||
      (there.getVersion == write.target.version &&
        (thereRank < rank || (thereRank == rank && there.getBatch != write.batch)))
    }

  /** Whether the controller has given the word to switch, or the driver has gone on from there. */
  def saysSwitch(phase: Phase): Boolean =
    phase != Phase.ABORT && rankOf(phase) >= rankOf(Phase.PROPAGATE)

  private def rankOf(phase: Phase): Int = phase match {
    case Phase.PHASE_UNSPECIFIED | Phase.UNRECOGNIZED => 0
    case Phase.PUBLISH => 1
    case Phase.PREPARE => 2
    case Phase.PROPAGATE => 3
    case Phase.ABORT => 4
    case Phase.MIGRATE => 5
    case Phase.COMMIT => 6
  }
}
