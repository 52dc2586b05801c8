package org.apache.spark.sql.keyroute.place

import java.util.UUID

import org.apache.spark.sql.keyroute.route.PlannedBatch

/** Puts partition i of consecutive operators on one executor. */
trait Placement {

  /** Called on the stream's thread for each batch, after the decision and any handoff: a pin that
    * changes makes the coordinator name an executor that has not loaded the store yet.
    *
    * @param parts
    *   part of each partition, from the tables in force; empty: partition i is part i
    */
  def beforeBatch(batch: PlannedBatch, parts: IndexedSeq[Int]): Unit

  /** The run is over. */
  def ended(run: UUID): Unit
}
