package org.apache.spark.sql.keyroute.handoff

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.keyroute.plugin.Driver
import org.apache.spark.sql.keyroute.route.{BatchDecider, BatchDecision, PlannedBatch}

/** What the planning rule asks: each run of a query has a decider of its own, which remembers what
  * it decided. A run that is forgotten begins anew with its next batch, which costs some reads. */
object Deciders extends BatchDecider {
  // The newest run of each query, and its decider.
  private val runs = mutable.HashMap.empty[UUID, (UUID, BatchDecider)]

  override def decide(batch: PlannedBatch): BatchDecision = forRun(batch).decide(batch)

  /** The run is over: what it remembers is dropped. */
  def ended(queryId: UUID, runId: UUID): Unit = synchronized {
    if (runs.get(queryId).exists(_._1 == runId)) runs.remove(queryId): Unit
  }

  /** Runs that are remembered. */
  def size: Int = synchronized(runs.size)

  private def forRun(batch: PlannedBatch): BatchDecider = synchronized {
    runs.get(batch.queryId).filter(_._1 == batch.runId).map(_._2).getOrElse {
      // Where nobody tells of an end: what does not run any more goes when another run begins.
      val active = batch.session.sharedState.activeStreamingQueries
      runs.filterInPlace { case (query, (run, _)) =>
        Option(active.get(query)).exists(_.runId == run)
      }
      val decider = new CheckpointDecider(() => Driver.reconfigurations)
      runs(batch.queryId) = batch.runId -> decider
      decider
    }
  }
}
