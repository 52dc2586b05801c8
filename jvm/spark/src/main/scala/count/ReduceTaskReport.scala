package org.apache.spark.sql.keyroute.count

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import org.apache.spark.TaskContext

import io.keyroute.proto.v1.ReduceTaskReads

/** Tells the driver what a task that reads an exchange read. */
final case class ReduceTaskReport(exchange: ExchangeId) {

  /** Has the report sent when the task succeeds; a failed attempt says nothing. Speculative twins are
    * told apart by the driver.
    *
    * @param partition
    *   of the exchange, which is not the task's where partitions are coalesced
    */
  def onSuccess(context: TaskContext, partition: Int): Unit = {
    val beganNs = System.nanoTime()
    ReduceTaskReport.note(context, exchange.group -> partition)
    context.addTaskCompletionListener[Unit] { ended =>
      if (!ended.isFailed() && !ended.isInterrupted())
        TaskReports.attempt(TaskReports.send(reads(ended, partition, beganNs)))
    }
  }

  private def reads(context: TaskContext, partition: Int, beganNs: Long): ReduceTaskReads = {
    val metrics = context.taskMetrics()
    metrics.mergeShuffleReadMetrics() // else the last blocks' bytes may be missing
    val message = ReduceTaskReads.newBuilder()
      .setRunId(exchange.runId.toString)
      .setBatch(exchange.batch)
      .setGroup(exchange.group)
      .setExchange(exchange.number)
      .setPartition(partition)
      .setExecutor(TaskReports.executorId)
      .setLocalBytes(metrics.shuffleReadMetrics.localBytesRead)
      .setRemoteBytes(metrics.shuffleReadMetrics.remoteBytesRead)
    // A task's state and time are of all that it read, and cannot be told apart.
    if (ReduceTaskReport.readsOne(context)) {
      message.setRunMs(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs))
      TaskState.of(metrics).foreach(s => message.setStateRows(s.rows).setStateBytes(s.bytes))
    }
    message.build()
  }
}

object ReduceTaskReport {
  // Groups and partitions that each running task reads: more than one where partitions are coalesced,
  // or branches of a union are read side by side. A join reads its partition twice.
  private val read = new ConcurrentHashMap[Long, Set[(Long, Int)]]()

  private def note(context: TaskContext, partition: (Long, Int)): Unit =
    if (read.merge(context.taskAttemptId(), Set(partition), _ ++ _).sizeIs == 1) {
      // Spark calls listeners last in, first out: this one after those that report.
      context.addTaskCompletionListener[Unit](c => read.remove(c.taskAttemptId()): Unit)
    }

  private def readsOne(context: TaskContext): Boolean =
    Option(read.get(context.taskAttemptId())).exists(_.sizeIs == 1)
}
