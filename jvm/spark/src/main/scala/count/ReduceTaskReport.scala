package org.apache.spark.sql.keyroute.count

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import org.apache.spark.TaskContext

import io.keyroute.proto.v1.ReduceTaskReads

/** Tells the driver where a task that reads an exchange ran, for how long, and what state it has. */
final case class ReduceTaskReport(exchange: ExchangeId) {

  /** Has the report sent when the task succeeds; a failed attempt says nothing. Speculative twins are
    * told apart by the driver.
    *
    * @param partition
    *   of the exchange, which is not the task's where partitions are coalesced
    */
  def onSuccess(context: TaskContext, partition: Int): Unit = {
    ReduceTaskReport.note(context, exchange.group -> partition)
    context.addTaskCompletionListener[Unit] { ended =>
      if (!ended.isFailed() && !ended.isInterrupted())
        TaskReports.attempt(TaskReports.send(reads(ended, partition)))
    }
  }

  private def reads(context: TaskContext, partition: Int): ReduceTaskReads = {
    val message = ReduceTaskReads.newBuilder()
      .setRunId(exchange.runId.toString)
      .setBatch(exchange.batch)
      .setGroup(exchange.group)
      .setExchange(exchange.number)
      .setPartition(partition)
      .setExecutor(TaskReports.executorId)
    // A task's state and time are of all that it read, and cannot be told apart.
    ReduceTaskReport.alone(context).foreach { beganNs =>
      message.setRunMs(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs))
      TaskState.of(context.taskMetrics()).foreach(s =>
        message.setStateRows(s.rows).setStateBytes(s.bytes)
      )
    }
    message.build()
  }
}

object ReduceTaskReport {
  // When a running task began to read, and of which groups and partitions: more than one where
  // partitions are coalesced, or branches of a union are read side by side. A join reads its partition
  // twice.
  private final case class Reading(beganNs: Long, of: Set[(Long, Int)])
  private val readings = new ConcurrentHashMap[Long, Reading]()

  private def note(context: TaskContext, partition: (Long, Int)): Unit = {
    val now = Reading(System.nanoTime(), Set(partition))
    val whole = readings.merge(
      context.taskAttemptId(),
      now,
      (before, more) => before.copy(of = before.of ++ more.of)
    )
    // Spark calls listeners last in, first out: this one after those that report.
    if (whole eq now)
      context.addTaskCompletionListener[Unit](c => readings.remove(c.taskAttemptId()): Unit)
  }

  /** When the task began to read, if it reads one partition of one group. */
  private def alone(context: TaskContext): Option[Long] =
    Option(readings.get(context.taskAttemptId())).filter(_.of.sizeIs == 1).map(_.beganNs)
}
