package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.{CountDownLatch, TimeUnit}
import java.util.{Collections, WeakHashMap}

import scala.collection.mutable

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{
  SparkListener,
  SparkListenerEvent,
  SparkListenerStageCompleted,
  SparkListenerStageSubmitted,
  SparkListenerTaskEnd,
  SparkListenerTaskStart
}

/** What is known of the attempts of a batch's tasks.
  *
  * @param several
  *   whether a task had more than one
  * @param running
  *   whether one runs still
  */
private[handoff] final case class Attempts(several: Boolean, running: Boolean)

/** Remembers which batches had more than one attempt of a task, and which attempts run. With
  * checkpoint format 1 both attempts write the same file name: what one executor has in memory need
  * not be what another will load. */
final class AttemptWatch private () extends SparkListener {
  import AttemptWatch._

  // All guarded by this. Stages that run, with their batch; tasks that run, by their id; batches with
  // a second attempt, newest last.
  private val stages = mutable.HashMap.empty[Int, Batch]
  private val tasks = mutable.LinkedHashMap.empty[Long, Batch]
  private val repeated = mutable.LinkedHashSet.empty[Batch]

  /** Of a batch that has ended; None where events come too late to know. */
  private[handoff] def attempts(
      context: SparkContext,
      queryId: String,
      batch: Long
  ): Option[Attempts] = {
    val mark = new Mark
    context.listenerBus.post(mark)
    Option.when(mark.seen.await(WaitMs, TimeUnit.MILLISECONDS)) {
      val key = (queryId, batch.toString)
      synchronized(Attempts(repeated.contains(key), tasks.values.exists(_ == key)))
    }
  }

  override def onStageSubmitted(event: SparkListenerStageSubmitted): Unit =
    for {
      properties <- Option(event.properties)
      query <- Option(properties.getProperty("sql.streaming.queryId"))
      batch <- Option(properties.getProperty("streaming.sql.batchId"))
    } synchronized {
      stages.put(event.stageInfo.stageId, (query, batch))
      if (event.stageInfo.attemptNumber() > 0) addRepeated((query, batch))
    }

  override def onTaskStart(event: SparkListenerTaskStart): Unit = synchronized {
    stages.get(event.stageId).foreach { batch =>
      tasks.put(event.taskInfo.taskId, batch)
      if (tasks.size > Kept) tasks.remove(tasks.head._1)
      if (event.taskInfo.attemptNumber > 0 || event.taskInfo.speculative) addRepeated(batch)
    }
  }

  override def onTaskEnd(event: SparkListenerTaskEnd): Unit =
    synchronized(tasks.remove(event.taskInfo.taskId): Unit)

  override def onStageCompleted(event: SparkListenerStageCompleted): Unit =
    synchronized(stages.remove(event.stageInfo.stageId): Unit)

  override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
    case mark: Mark => mark.seen.countDown()
    case _ => ()
  }

  private def addRepeated(batch: Batch): Unit = {
    repeated.add(batch)
    if (repeated.size > Kept) repeated.remove(repeated.head)
  }
}

object AttemptWatch {
  // Query and batch.
  private type Batch = (String, String)

  private val Queue = "keyroute-attempts"
  private val WaitMs = 2000L
  private val Kept = 10000
  private val watches =
    Collections.synchronizedMap(new WeakHashMap[SparkContext, AttemptWatch]())

  /** Seen when all events before it have been: events of a queue come in order. */
  private final class Mark extends SparkListenerEvent {
    val seen = new CountDownLatch(1)
    override protected[spark] def logEvent: Boolean = false
  }

  /** The one of an application, registered where it is first asked for, on a queue of its own: other
    * listeners may be slow. */
  def of(context: SparkContext): AttemptWatch = watches.synchronized {
    Option(watches.get(context)).getOrElse {
      val watch = new AttemptWatch
      context.listenerBus.addToQueue(watch, Queue)
      watches.put(context, watch)
      watch
    }
  }
}
