package org.apache.spark.sql.keyroute.publish

import java.util.UUID

/** Reconfigurations that come from outside. No method but `open` and `close` waits for anything. */
trait Publisher extends Reconfigurations with AutoCloseable {

  /** Registers the application and begins to watch. What does not answer is tried again. */
  def open(application: Application): Unit

  /** The batch is committed. */
  def batchEnded(runId: UUID, batch: Long): Unit

  /** The run is over. */
  def ended(runId: UUID): Unit

  override def close(): Unit
}
