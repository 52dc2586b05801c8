package org.apache.spark.sql.keyroute.route

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.TaskContext

/** The route of the batch that the current task belongs to: set by an RDD under the stateful
  * operator before the operator asks for its store, read by the state store provider. */
object TaskRoute {
  private val routes = new ConcurrentHashMap[Long, BatchRoute]()

  def set(context: TaskContext, route: BatchRoute): Unit =
    if (routes.put(context.taskAttemptId(), route) == null) {
      context.addTaskCompletionListener[Unit](c => routes.remove(c.taskAttemptId()))
    }

  /** None outside a task, and in a task that no routed plan made. */
  def current: Option[BatchRoute] =
    Option(TaskContext.get()).flatMap(c => Option(routes.get(c.taskAttemptId())))
}
