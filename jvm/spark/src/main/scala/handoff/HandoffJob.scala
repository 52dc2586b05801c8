package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicReferenceArray

import scala.concurrent.Await
import scala.concurrent.duration.{Duration, MILLISECONDS}
import scala.jdk.CollectionConverters._

import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{Schedulable, TaskSetManager}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.keyroute.route.RunningBatch
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{FutureAction, SparkContext, SparkException}

/** Runs handoff tasks as plain Spark jobs, on the stream's thread, while the batch is planned. */
final class HandoffJob(session: SparkSession, batch: Long) extends Logging {
  private val spark: SparkContext = session.sparkContext
  private lazy val conf = HandoffConf(spark.broadcast(
    new SerializableConfiguration(session.sessionState.newHadoopConf())
  ))

  /** Runs a task for each source. Where stores were not found in memory they are looked for again,
    * at the places that the coordinator names then: a task that waited too long for its busy
    * executor runs on another one.
    *
    * @param timeoutMs
    *   time after which the job is given up; its tasks are gone on return
    * @return
    *   a result for each source, in order */
  def run(
      sources: Seq[HandoffSource],
      task: HandoffTask,
      atStores: Boolean,
      timeoutMs: Option[Long]
  ): Seq[HandoffResult] = {
    val deadline = timeoutMs.map(System.nanoTime() + _ * 1000000L)
    val results = Array.fill[HandoffResult](sources.size)(HandoffJob.NotTried)
    described {
      var todo: Seq[Int] = sources.indices
      var round = 0
      while (todo.nonEmpty && round < HandoffJob.Rounds) {
        val at = todo.map(i => if (atStores) locate(sources(i)) else None)
        val found = runOnce(todo.map(sources), at, task, deadline)
        todo.zip(found).foreach { case (i, result) => results(i) = result }
        val missing = todo.filter(i => isNotLoaded(results(i)))
        // Another failure decides already; without a location nobody has the store.
        val hopeless = results.exists(isFailure) || missing.exists(i => locate(sources(i)).isEmpty)
        todo = if (hopeless) Nil else missing
        round += 1
      }
    }
    results.toSeq
  }

  private def isNotLoaded(result: HandoffResult): Boolean = result match {
    case failed: NotHandedOff => failed.notLoaded
    case _: HandedOff => false
  }

  private def isFailure(result: HandoffResult): Boolean = result match {
    case failed: NotHandedOff => !failed.notLoaded
    case _: HandedOff => false
  }

  private def locate(source: HandoffSource): Option[String] =
    session.streams.stateStoreCoordinator.getLocation(source.provider)

  private def runOnce(
      sources: Seq[HandoffSource],
      locations: Seq[Option[String]],
      task: HandoffTask,
      deadline: Option[Long]
  ): Seq[HandoffResult] = {
    val results = new AtomicReferenceArray[HandoffResult](sources.size)
    val rdd = new HandoffRDD(spark, sources, locations, task, conf)
    val job = spark.submitJob[HandoffResult, HandoffResult, Unit](
      rdd,
      _.next(),
      sources.indices,
      (i, result) => results.set(i, result),
      ()
    )
    def failed(reason: String) = sources.map(_ => NotHandedOff(reason, notLoaded = false))
    try {
      Await.result(
        job,
        deadline.fold[Duration](Duration.Inf)(d =>
          Duration(math.max(0L, (d - System.nanoTime()) / 1000000L), MILLISECONDS)
        )
      )
      sources.indices.map(results.get)
    } catch {
      case _: TimeoutException =>
        job.cancel()
        failed("the handoff took too long")
      case e: SparkException if !RunningBatch.isStopped(session) =>
        failed(s"the handoff job failed: ${e.getMessage}")
      case t: Throwable =>
        job.cancel()
        throw t
    } finally if (!job.isCompleted || job.value.forall(_.isFailure)) awaitGone(job)
  }

  /** A task that outlives its job holds the lock of its store, and the batch waits for it. Tasks poll
    * for their end every thousand rows. No task of a job that is over starts any more. */
  private def awaitGone(job: FutureAction[Unit]): Unit = {
    val deadline = System.nanoTime() + HandoffJob.GoneMs * 1000000L
    def alive = !job.isCompleted || runningTasks(job.jobIds) > 0
    while (!Thread.currentThread().isInterrupted && alive && System.nanoTime() < deadline) {
      Thread.sleep(HandoffJob.PollMs)
    }
    if (!Thread.currentThread().isInterrupted && alive) logWarning(
      s"KeyRoute: handoff tasks of batch $batch outlive their job by ${HandoffJob.GoneMs} ms: the " +
        "batch begins beside them, and waits for the stores that they hold"
    )
  }

  /** As the scheduler has it: what listeners and the status tracker know comes late, and a task that
    * nobody has heard of yet would be taken for one that is gone. */
  private def runningTasks(jobs: Seq[Int]): Int = {
    val scheduler = spark.taskScheduler
    scheduler.synchronized {
      // A task set's priority is the number of its job. It stays here until its last task is gone.
      taskSets(scheduler.rootPool).filter(set => jobs.contains(set.taskSet.priority))
        .map(_.runningTasks).sum
    }
  }

  private def taskSets(of: Schedulable): Seq[TaskSetManager] = of match {
    case set: TaskSetManager => Seq(set)
    case pool => pool.schedulableQueue.asScala.toSeq.flatMap(taskSets)
  }

  /** The stream's own job group stays, so that stopping the query ends the job. */
  private def described[T](body: => T): T = {
    val keys = Seq(SparkContext.SPARK_JOB_DESCRIPTION, "callSite.short", "callSite.long")
    val before = keys.map(k => k -> spark.getLocalProperty(k))
    spark.setJobDescription(s"KeyRoute: handoff of state for batch $batch")
    spark.setLocalProperty("callSite.short", "KeyRoute handoff")
    spark.setLocalProperty("callSite.long", "")
    try body
    finally before.foreach { case (k, v) => spark.setLocalProperty(k, v) }
  }
}

object HandoffJob {
  private val NotTried = NotHandedOff("it was not tried", notLoaded = false)

  /** Looking for loaded stores, before it counts as a postponement. */
  private val Rounds = 4
  private val GoneMs = 20000L
  private val PollMs = 20L
}
