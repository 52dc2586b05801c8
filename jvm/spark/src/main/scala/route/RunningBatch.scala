package org.apache.spark.sql.keyroute.route

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution

/** Tells a micro-batch that is about to run from every other plan that passes through the rule. */
object RunningBatch {

  /** The query whose batch is being planned on its own thread; None for `explain()`, a batch
    * `transformWithState`, a plan on a user's thread. Spark plans those with a run id that no active
    * query has, and without a real checkpoint path. */
  def queryOf(session: SparkSession, info: StatefulOperatorStateInfo): Option[StreamExecution] =
    session.sharedState.activeStreamingQueries.values.asScala.find { query =>
      query.runId == info.queryRunId &&
      (query.queryExecutionThread eq Thread.currentThread) &&
      new Path(info.checkpointLocation) == new Path(query.resolvedCheckpointRoot, StateFolder)
    }

  /** Whether the query that runs on this thread is being stopped. What fails meanwhile goes to Spark
    * as it is, which then ends the query without an error. The thread's flag alone does not tell: who
    * throws for an interrupt takes it back, and the exceptions are of many kinds. Spark sets the
    * query's state before it interrupts. */
  def isStopped(session: SparkSession): Boolean =
    Thread.currentThread.isInterrupted ||
      session.sharedState.activeStreamingQueries.values.asScala.exists { query =>
        (query.queryExecutionThread eq Thread.currentThread) && !query.isActive
      }

  private val StateFolder = "state"
}
