package org.apache.spark.sql.keyroute.handoff

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.{PlannedBatch, RunningBatch}

import io.keyroute.core.table.RoutingTables

/** The try of one batch to switch tables: up to the handoff's files, nothing that is decided.
  *
  * @param state
  *   of the run before
  * @param failed
  *   batches that have tried in vain
  * @param first
  *   whether this is the run's first batch: no store is loaded
  */
private[handoff] final class SwitchTry(
    batch: PlannedBatch,
    state: RunState,
    groups: RouteGroups,
    failed: Int,
    first: Boolean
) extends Logging {
  private val history = state.history.get
  private val patient =
    failed < Settings.handoffPostponements.orDefault(batch.session.conf.getOption)

  def apply(asked: RoutingTables): SwitchResult = {
    val missing = groups.groupOf.keySet.diff(batch.operators.map(_.id).toSet)
    if (missing.nonEmpty) later(
      s"operators ${missing.toSeq.sorted.mkString(", ")} are not in this batch's plan"
    )
    else
      try blocked.map(later).getOrElse {
          history.tables.put(asked)
          handOff(asked)
        }
      catch {
        // Nothing is written yet, so nothing is decided.
        case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
          logWarning(s"KeyRoute: no switch to version ${asked.version} in batch ${batch.batch}", e)
          dropFiles()
          later(e.toString)
      }
  }

  private def handOff(asked: RoutingTables): SwitchResult = {
    val stores = state.stores.getOrElse(groups.stores(batch))
    val to = batch.session.sparkContext.broadcast(groups.complete(asked))
    new Handoff(batch, history.layout, groups.shapes, stores, state.tables, to)
      .attempt(fromCheckpoint = first || !patient) match {
      case Right(switched) =>
        SwitchMade(
          state.copy(
            groups = groups,
            inForce = Some(InForce(asked, asked.hash)),
            tables = to,
            stores = Some(stores),
            attempts = SwitchAttempts.None
          ),
          switched
        )
      case Left(reason) =>
        dropFiles()
        SwitchFailed(reason.reason, reason.forGood)
    }
  }

  private def later(reason: String) = SwitchFailed(reason, forGood = false)

  /** What some sources have written is of no use to a later batch. */
  private def dropFiles(): Unit =
    try history.layout.dropHandoffs(_ == batch.batch)
    catch {
      case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
        logWarning(s"KeyRoute: ${history.layout.handoff(batch.batch)} cannot be deleted", e)
    }

  /** Why the attempts of the batch before forbid a handoff, if they do. Versions of checkpoint format
    * 2 have unique ids; in format 1 an attempt may overwrite another's file while the handoff reads
    * its memory. When none runs any more, the file in the checkpoint is what counts. */
  private def blocked: Option[String] =
    if (StatefulOperatorStateInfo.enableStateStoreCheckpointIds(batch.session.sessionState.conf))
      None
    else if (first && state.inForce.isEmpty && history.mayHaveBegun) Some(
      s"batch ${batch.batch} may have been begun by an earlier run, which knew no table and whose " +
        "tasks may still write: it is run as they would"
    )
    else {
      val context = batch.session.sparkContext
      val before = batch.batch - 1
      AttemptWatch.of(context).attempts(context, batch.queryId.toString, before) match {
        case None =>
          Some(s"it is not known yet whether a task of batch $before had several attempts")
        case Some(a) if a.running => Some(s"an attempt of a task of batch $before still runs")
        case Some(a) if a.several && patient && !first =>
          Some(s"a task of batch $before had several attempts")
        case _ => None
      }
    }
}
