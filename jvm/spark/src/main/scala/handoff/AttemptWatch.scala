package org.apache.spark.sql.keyroute.handoff

import java.util.{Collections, WeakHashMap}

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerStageCompleted,
  SparkListenerStageSubmitted,
  SparkListenerTaskStart
}

/** Remembers which batches had more than one attempt of a task. With checkpoint format 1 both
  * attempts write the same file name: what one executor has in memory need not be what another will
  * load. */
final class AttemptWatch private () extends SparkListener {
  // Guarded by this. Stages that run, with their batch; batches with a second attempt, newest last.
  private val stages = mutable.HashMap.empty[Int, (String, String)]
  private val repeated = mutable.LinkedHashSet.empty[(String, String)]

  /** Whether no task of the batch had a second attempt; false as well where that cannot be known. */
  def ranOnce(context: SparkContext, queryId: String, batch: Long): Boolean =
    try {
      context.listenerBus.waitUntilEmpty(AttemptWatch.WaitMs)
      synchronized(!repeated.contains((queryId, batch.toString)))
    } catch { case _: java.util.concurrent.TimeoutException => false }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    for {
      properties <- Option(event.properties)
      query <- Option(properties.getProperty("sql.streaming.queryId"))
      batch <- Option(properties.getProperty("streaming.sql.batchId"))
    } synchronized {
      stages.put(event.stageInfo.stageId, (query, batch))
      if (event.stageInfo.attemptNumber() > 0) add((query, batch))
    }

  override def onTaskStart(event: SparkListenerTaskStart): Unit =
    if (event.taskInfo.attemptNumber > 0 || event.taskInfo.speculative) synchronized {
      stages.get(event.stageId).foreach(add)
    }

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit =
    synchronized(stages.remove(event.stageInfo.stageId): Unit)

  private def add(batch: (String, String)): Unit = {
    repeated.add(batch)
    if (repeated.size > AttemptWatch.Kept) repeated.remove(repeated.head)
  }
}

object AttemptWatch {
  private val WaitMs = 5000L
  private val Kept = 10000
  private val watches =
    Collections.synchronizedMap(new WeakHashMap[SparkContext, AttemptWatch]())

  /** The one of an application, registered where it is first asked for. */
  def of(context: SparkContext): AttemptWatch = watches.synchronized {
    Option(watches.get(context)).getOrElse {
      val watch = new AttemptWatch
      context.addSparkListener(watch)
      watches.put(context, watch)
      watch
    }
  }
}
