package org.apache.spark.sql.keyroute.handoff

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.route.PlannedBatch

/** Snapshots of state that no batch of this timeline has made: someone rolled the checkpoint back.
  * Files of changes are written anew, each batch its own, but a snapshot is only now and then: one of
  * the other timeline would be taken for what a later batch of this one begins with. (Spark alone
  * leaves them there.) With checkpoint format 2 a name has an id as well, and another timeline's is
  * never taken. */
private[handoff] object OtherSnapshots {
  private val Snapshot = raw"(\d+)\.(?:snapshot|zip)".r

  /** Moves aside those of later versions than the run's first batch begins with: none is needed. */
  def setAside(batch: PlannedBatch, layout: CheckpointLayout, nowMs: Long): Unit =
    for {
      operator <- batch.operators
      store <- operator.stores
      partition <- 0 until operator.info.numPartitions
      folder = StateStoreId(operator.info.checkpointLocation, operator.id, partition, store)
        .storeCheckpointLocation()
      name <- layout.names(folder)
      version <- versionOf(name) if version > batch.batch
    } layout.moveStateAside(new Path(folder, name), nowMs)

  private def versionOf(name: String): Option[Long] = name match {
    case Snapshot(version) => version.toLongOption
    case _ => None
  }
}
