package org.apache.spark.sql.keyroute.count

import java.nio.ByteBuffer
import java.util.UUID
import java.util.concurrent.atomic.AtomicBoolean

import scala.util.control.NonFatal

import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.internal.Logging

import io.keyroute.proto.v1.{MapTaskCounts, ReduceTaskReads}

/** The executor's way to the driver. A report is a byte array whose first byte is its kind; a lost
  * report costs statistics, never correctness, and never a task. */
object TaskReports extends Logging {
  val MapCounts: Byte = 1
  val ReduceReads: Byte = 2
  val StoreApplied: Byte = 3

  @volatile private var context: PluginContext = _
  private val warned = new AtomicBoolean

  /** By the executor plugin, once, before any task. Spark looks for the driver at the first message,
    * and never again where that look was interrupted, as it can be in a task that is killed: all later
    * reports of the executor would be lost. So the first message, which says nothing, goes now. */
  def connect(context: PluginContext): Unit = {
    this.context = context
    if (context != null) attempt(context.send(Array.emptyByteArray))
  }

  /** The id of this executor, as the driver knows it; empty before `connect`. */
  def executorId: String = Option(context).fold("")(_.executorID())

  def send(counts: MapTaskCounts): Unit = send(MapCounts, counts.toByteArray)

  def send(reads: ReduceTaskReads): Unit = send(ReduceReads, reads.toByteArray)

  /** Makes and sends a report. What fails is logged, as a warning the first time: Spark fails a task
    * whose listener throws, and a task shall not fail for its statistics. Nor for a release of Spark
    * whose inner methods, of which reports use some, are not those that we were built with. */
  def attempt(report: => Unit): Unit =
    try report
    catch {
      case NonFatal(e) => failed(e)
      case e: LinkageError => failed(e)
    }

  private def failed(e: Throwable): Unit =
    if (warned.compareAndSet(false, true))
      logWarning(
        "a task's report could not be made or sent to the driver; its statistics are " +
          "incomplete. Further failures are logged at debug level.",
        e
      )
    else logDebug("a task's report could not be made or sent", e)

  /** A partition's store took in, or gave away, the rows of a switch batch. */
  def sendApplied(runId: UUID, batch: Long, applyMs: Long): Unit = {
    val body = ByteBuffer.allocate(4 * java.lang.Long.BYTES)
    body.putLong(runId.getMostSignificantBits).putLong(runId.getLeastSignificantBits)
    send(StoreApplied, body.putLong(batch).putLong(applyMs).array())
  }

  private def send(kind: Byte, bytes: Array[Byte]): Unit = {
    val to = context
    if (to != null) attempt(to.send(kind +: bytes))
  }
}
