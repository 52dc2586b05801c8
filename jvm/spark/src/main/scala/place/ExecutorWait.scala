package org.apache.spark.sql.keyroute.place

import java.util.concurrent.TimeUnit.MILLISECONDS

import org.apache.spark.internal.Logging

/** Waits, once and for a bounded time, until a number of executors is there. Those who ask meanwhile
  * wait with the first, until the same moment; an interrupt ends one's wait and nobody else's.
  *
  * @param found
  *   how many there are now
  */
private[place] final class ExecutorWait(number: Int, limitMs: Long, found: () => Int)
    extends Logging {
  private lazy val deadline: Long = System.nanoTime() + MILLISECONDS.toNanos(limitMs)
  @volatile private var over = false

  /** @throws java.lang.InterruptedException
    *   as a stream that is stopped expects
    */
  def await(): Unit = if (!over) {
    val end = deadline
    if (found() < number) {
      logInfo(s"${found()} of $number executors are there: waiting to place partitions")
    }
    // Spark has no event that a stream's thread could wait on.
    while (!over && found() < number && System.nanoTime() < end) Thread.sleep(ExecutorWait.PollMs)
    finish()
  }

  private def finish(): Unit = synchronized {
    if (!over && found() < number) {
      logWarning(s"only ${found()} of $number executors came within $limitMs ms: partitions are " +
        "placed on those, and spread again when more come")
    }
    over = true
  }
}

private[place] object ExecutorWait {
  val PollMs: Long = 50L
}
