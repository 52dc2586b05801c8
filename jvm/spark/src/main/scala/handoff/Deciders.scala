package org.apache.spark.sql.keyroute.handoff

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.keyroute.plugin.Driver
import org.apache.spark.sql.keyroute.route.{BatchDecider, BatchDecision, PlannedBatch}

/** What the planning rule asks: each run of a query has a decider of its own, which remembers what
  * it decided. */
object Deciders extends BatchDecider {
  // A run that is forgotten here begins anew with its next batch, which costs some reads.
  private val Kept = 1024
  private val deciders = mutable.LinkedHashMap.empty[UUID, BatchDecider]

  override def decide(batch: PlannedBatch): BatchDecision = forRun(batch.runId).decide(batch)

  private def forRun(runId: UUID): BatchDecider = synchronized {
    deciders.getOrElseUpdate(
      runId, {
        if (deciders.size >= Kept) deciders.remove(deciders.head._1)
        new CheckpointDecider(() => Driver.reconfigurations)
      }
    )
  }
}
