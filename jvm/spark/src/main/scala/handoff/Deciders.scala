package org.apache.spark.sql.keyroute.handoff

import java.util.UUID

import scala.collection.mutable

import org.apache.spark.sql.keyroute.plugin.Driver
import org.apache.spark.sql.keyroute.route.{BatchDecider, PlannedBatch}

/** The decider of each run, which remembers what its run decided. */
object Deciders {
  // A run that is forgotten here begins anew with its next batch, which costs some reads.
  private val Kept = 1024
  private val deciders = mutable.LinkedHashMap.empty[UUID, BatchDecider]

  /** The one for the batch's run; made at the first planning of the run. */
  def forRun(batch: PlannedBatch): BatchDecider = synchronized {
    deciders.getOrElseUpdate(batch.runId, {
      if (deciders.size >= Kept) deciders.remove(deciders.head._1)
      new CheckpointDecider(() => Driver.reconfigurations)
    })
  }
}
