package org.apache.spark.sql.keyroute.publish

import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.keyroute.core.table.{GroupShape, RoutingTables}

/** An operator and why it stays on Spark's hash, if it does. */
final case class OperatorState(id: Long, name: String, group: Long, reason: Option[String])

/** A run of a query, as its first planning found it.
  *
  * @param inForce
  *   tables of the last batch in the route log; version 0 where there are none
  * @param sinceBatch
  *   the batch that switched to them
  * @param bypass
  *   why the whole query is bypassed, if it is
  */
final case class RunningQuery(
    queryId: UUID,
    runId: UUID,
    name: String,
    checkpoint: Path,
    hadoopConf: Configuration,
    groups: Seq[GroupShape],
    operators: Seq[OperatorState],
    inForce: RoutingTables,
    sinceBatch: Long,
    bypass: Option[String]
)

/** The figures of a switch, as the handoff measured them.
  *
  * @param toHash
  *   of the tables switched to, where they were not asked for in this run: a switch that is
  * replayed
  */
final case class SwitchFigures(
    batch: Long,
    fromVersion: Long,
    toVersion: Long,
    rowsMoved: Long,
    rowsSeen: Long,
    handoffMs: Long,
    pulled: Boolean,
    toHash: String = ""
)

/** The driver's side of the staged reconfiguration, as the stream's thread sees it. No method waits
  * for the network. */
trait Reconfigurations {

  /** The first planning of a run. */
  def started(query: RunningQuery): Unit

  /** Tables that are verified, stored in the checkpoint, and told to switch to. */
  def asked(runId: UUID): Option[RoutingTables]

  /** Why the switch asked for does not happen in this batch. */
  def postponed(runId: UUID, reason: String): Unit

  /** The asked tables cannot be switched to. Before the route entry only. */
  def refused(runId: UUID, version: Long, reason: String): Unit

  /** The route entry of the batch that switches is written, or found again by a run that replays
    * it. */
  def migrating(runId: UUID, figures: SwitchFigures): Unit
}

/** Where there is no ZooKeeper: tables never arrive. */
object NoReconfigurations extends Reconfigurations {
  override def started(query: RunningQuery): Unit = ()
  override def asked(runId: UUID): Option[RoutingTables] = None
  override def postponed(runId: UUID, reason: String): Unit = ()
  override def refused(runId: UUID, version: Long, reason: String): Unit = ()
  override def migrating(runId: UUID, figures: SwitchFigures): Unit = ()
}
