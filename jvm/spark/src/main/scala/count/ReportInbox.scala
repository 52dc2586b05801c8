package org.apache.spark.sql.keyroute.count

import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.atomic.AtomicLong

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

/** Executors' reports on their way into the statistics: Spark's message thread only puts them down
  * here, and one thread of our own takes them in. Bounded: what comes while it is full is dropped,
  * which costs statistics, never the driver's memory.
  *
  * @param mostBytes
  *   of reports that wait
  * @param takeIn
  *   called with one report after the other, in the order in which they came
  */
final class ReportInbox(mostBytes: Long, takeIn: Array[Byte] => Unit)
    extends AutoCloseable with Logging {
  // Bounded by its bytes, not by its reports, which differ a thousandfold.
  private val waiting = new LinkedBlockingQueue[Array[Byte]]()
  private val bytes = new AtomicLong
  private val lost = new AtomicLong
  private val worker = new Thread(() => work(), "keyroute-reports")
  worker.setDaemon(true)

  def open(): Unit = worker.start()

  /** Never waits. */
  def put(report: Array[Byte]): Unit =
    if (bytes.addAndGet(report.length.toLong) <= mostBytes) waiting.put(report)
    else {
      bytes.addAndGet(-report.length.toLong)
      // At 1, 2, 4, 8 … so that a flood does not flood the log.
      val number = lost.incrementAndGet()
      if ((number & (number - 1)) == 0) {
        logWarning(s"$number reports of executors were dropped so far, since more than " +
          s"$mostBytes bytes of them wait: statistics are incomplete. Lower " +
          "spark.keyroute.statistics.counters, or give the driver more cores.")
      }
    }

  /** Reports dropped so far. */
  def dropped: Long = lost.get

  override def close(): Unit = worker.interrupt()

  private def work(): Unit =
    try
      while (true) {
        val report = waiting.take()
        bytes.addAndGet(-report.length.toLong)
        try takeIn(report)
        catch {
          case e: InterruptedException => throw e
          case NonFatal(e) => logDebug("a report was dropped", e)
          // One report may be too much for the memory: the next one need not be.
          case e: Throwable => logError("a report was dropped", e)
        }
      }
    catch { case _: InterruptedException => () } // closed
}

object ReportInbox {
  val MostBytes: Long = 64L << 20
}
