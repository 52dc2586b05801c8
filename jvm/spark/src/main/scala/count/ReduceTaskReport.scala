package org.apache.spark.sql.keyroute.count

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
  def onSuccess(context: TaskContext, partition: Int): Unit =
    context.addTaskCompletionListener[Unit] { ended =>
      if (!ended.isFailed() && !ended.isInterrupted())
        TaskReports.attempt(TaskReports.send(reads(ended, partition)))
    }

  private def reads(context: TaskContext, partition: Int): ReduceTaskReads = {
    val metrics = context.taskMetrics()
    metrics.mergeShuffleReadMetrics() // else the last blocks' bytes may be missing
    ReduceTaskReads.newBuilder()
      .setRunId(exchange.runId.toString)
      .setBatch(exchange.batch)
      .setGroup(exchange.group)
      .setExchange(exchange.number)
      .setPartition(partition)
      .setExecutor(TaskReports.executorId)
      .setLocalBytes(metrics.shuffleReadMetrics.localBytesRead)
      .setRemoteBytes(metrics.shuffleReadMetrics.remoteBytesRead)
      .build()
  }
}
