package org.apache.spark.sql.keyroute.count

import java.util.concurrent.TimeUnit

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
      .setRunMs(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs))
    TaskState.of(metrics).foreach(s => message.setStateRows(s.rows).setStateBytes(s.bytes))
    message.build()
  }
}
