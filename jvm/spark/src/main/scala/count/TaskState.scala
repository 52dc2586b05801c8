package org.apache.spark.sql.keyroute.count

import org.apache.spark.executor.TaskMetrics
import org.apache.spark.sql.execution.metric.SQLMetric

/** State that the operators of a task have at its end, in the task's partition. */
final case class TaskState(rows: Long, bytes: Long)

object TaskState {

  // The names under which Spark's stateful operators and state stores report them.
  private val Rows = "number of total state rows"
  // What a partition would take along. A store that does not say so says at least its memory, which
  // holds older versions and buffers, too.
  private val Bytes = Seq(
    "estimated size of state only on current version",
    "RocksDB: size of all SST files",
    "memory used by state"
  )

  /** From the metrics of a task whose operators are done; None where it has no stateful operator. */
  def of(metrics: TaskMetrics): Option[TaskState] = {
    val wanted = Bytes :+ Rows
    val found = metrics.withExternalAccums(_.toSeq).collect {
      case m: SQLMetric if m.name.exists(wanted.contains) => m.name.get -> math.max(0L, m.value)
    }.groupMapReduce(_._1)(_._2)(_ + _)
    found.get(Rows).map(TaskState(_, Bytes.flatMap(found.get).find(_ > 0).getOrElse(0L)))
  }
}
