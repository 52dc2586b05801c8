package org.apache.spark.sql.keyroute.count

import org.apache.spark.executor.TaskMetrics
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.internal.SQLConf

/** State that the operators of a task have at its end, in the task's partition. */
final case class TaskState(rows: Long, bytes: Long)

object TaskState {

  // The names under which Spark's stateful operators and state stores report them.
  private val Rows = "number of total state rows"
  private val Files = "RocksDB: size of all SST files"
  // What a partition would take along. A store that does not say so says at least its memory, which
  // holds older versions and buffers, too.
  private val Bytes = Seq(
    "estimated size of state only on current version",
    Files,
    "memory used by state"
  )

  // A store that does not count its rows says 0.
  private val Counts = "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows"

  /** From the metrics of a task whose operators are done; None where it has no stateful operator, or a
    * store does not count its rows. */
  def of(metrics: TaskMetrics): Option[TaskState] = {
    val wanted = Bytes :+ Rows
    val found = metrics.withExternalAccums(_.toSeq).collect {
      case m: SQLMetric if m.name.exists(wanted.contains) => m.name.get -> math.max(0L, m.value)
    }.groupMapReduce(_._1)(_._2)(_ + _)
    val uncounted = found.contains(Files) &&
      SQLConf.get.getConfString(Counts, "true").trim.equalsIgnoreCase("false")
    found.get(Rows).filterNot(_ == 0 && uncounted).map(TaskState(
      _,
      Bytes.flatMap(found.get).find(_ > 0).getOrElse(0L)
    ))
  }
}
