package org.apache.spark.sql.keyroute.handoff

import java.util.Properties

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.Success
import org.apache.spark.executor.ExecutorMetrics
import org.apache.spark.scheduler.{
  SparkListenerStageCompleted,
  SparkListenerStageSubmitted,
  SparkListenerTaskEnd,
  SparkListenerTaskStart,
  StageInfo,
  TaskInfo,
  TaskLocality
}

class AttemptWatchSuite extends AnyFunSuite {
  private val context = SwitchTest.spark.sparkContext
  private val watch = AttemptWatch.of(context)
  private val query = "a-query-of-this-suite"
  private val stage = new StageInfo(900001, 0, "stage", 2, Nil, Nil, "", resourceProfileId = 0)

  private def task(id: Long, attempt: Int, speculative: Boolean = false) =
    new TaskInfo(id, 0, attempt, 0, 0L, "1", "host", TaskLocality.ANY, speculative)

  private def begin(info: TaskInfo): Unit =
    watch.onTaskStart(SparkListenerTaskStart(stage.stageId, 0, info))

  private def end(info: TaskInfo): Unit = watch.onTaskEnd(SparkListenerTaskEnd(
    stage.stageId,
    0,
    "ShuffleMapTask",
    Success,
    info,
    new ExecutorMetrics,
    null
  ))

  private def seen = watch.attempts(context, query, 7)

  test("a speculative attempt that outlives its stage is known to run") {
    val properties = new Properties
    properties.setProperty("sql.streaming.queryId", query)
    properties.setProperty("streaming.sql.batchId", "7")
    val (first, second) = (task(900001, 0), task(900002, 1, speculative = true))
    watch.onStageSubmitted(SparkListenerStageSubmitted(stage, properties))
    begin(first)
    assert(seen.contains(Attempts(several = false, running = true)))
    begin(second)
    end(first)
    watch.onStageCompleted(SparkListenerStageCompleted(stage))
    assert(seen.contains(Attempts(several = true, running = true)))
    end(second)
    assert(seen.contains(Attempts(several = true, running = false)))
    assert(watch.attempts(context, query, 8).contains(Attempts(several = false, running = false)))
  }
}
