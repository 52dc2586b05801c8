package org.apache.spark.sql.keyroute.count

import java.util.{Properties, UUID}

import scala.collection.mutable
import scala.util.Try

import org.apache.spark.Success
import org.apache.spark.scheduler._
import org.apache.spark.sql.streaming.StreamingQueryListener._

/** What happens in the cluster, as far as KeyRoute wants to know it. */
trait ClusterEvents {

  /** A batch is committed: progress told of it. */
  def batchEnded(runId: UUID, batch: Long, inputRows: Long, durationMs: Long): Unit
  def queryEnded(runId: UUID): Unit
}

/** Follows tasks, executors and queries by Spark's events, on a queue of its own. */
final class TaskListener(collector: StatisticsCollector, events: ClusterEvents)
    extends SparkListener {
  // Query and batch of the stages that run; Spark's thread is the only one here.
  private val stages = new mutable.LinkedHashMap[Int, (UUID, Long)]

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    TaskListener.batchOf(event.properties).foreach { batch =>
      stages(event.stageInfo.stageId) = batch
      if (stages.size > TaskListener.MostStages) stages.remove(stages.head._1)
    }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    for {
      (query, batch) <- stages.get(event.stageId)
      metrics <- Option(event.taskMetrics) if event.reason == Success
    } {
      val read = metrics.shuffleReadMetrics
      val bytes = ShuffleBytes(read.localBytesRead, read.remoteBytesRead)
      if (bytes != ShuffleBytes.none) collector.shuffled(query, batch, bytes)
    }

  override def onExecutorAdded(event: SparkListenerExecutorAdded): Unit =
    collector.executorAdded(event.executorId, event.executorInfo.executorHost)

  // Where its blocks live, which is when Spark asks its topology mapper.
  override def onBlockManagerAdded(event: SparkListenerBlockManagerAdded): Unit =
    event.blockManagerId.topologyInfo
      .foreach(collector.executorLies(event.blockManagerId.executorId, _))

  override def onExecutorRemoved(event: SparkListenerExecutorRemoved): Unit =
    collector.executorRemoved(event.executorId)

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case e: QueryProgressEvent =>
      val progress = e.progress
      val triggered = Option(progress.durationMs.get("triggerExecution")).map(_.longValue)
      events.batchEnded(
        progress.runId,
        progress.batchId,
        progress.numInputRows,
        triggered.getOrElse(progress.batchDuration)
      )
    case e: QueryTerminatedEvent => events.queryEnded(e.runId)
    case _ => ()
  }
}

object TaskListener {
  private val MostStages = 4096

  // Spark's names: StreamExecution.QUERY_ID_KEY and MicroBatchExecution.BATCH_ID_KEY.
  private def batchOf(properties: Properties): Option[(UUID, Long)] =
    for {
      all <- Option(properties)
      query <- Option(all.getProperty("sql.streaming.queryId"))
      batch <- Option(all.getProperty("streaming.sql.batchId"))
      id <- Try(UUID.fromString(query)).toOption
      number <- batch.toLongOption
    } yield (id, number)
}
