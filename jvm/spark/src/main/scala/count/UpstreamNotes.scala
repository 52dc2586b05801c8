package org.apache.spark.sql.keyroute.count

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.TaskContext

/** The upstream keys of one task's rows, from where they are noted to the exchange. Not thread-safe: a
  * task's rows go through one thread. */
final class UpstreamNotes {
  private var known = false
  private var keys: UpstreamOfKeys = _

  /** What was found last. */
  var fingerprint: Long = 0L
  var hash: Int = 0

  /** Of the row that is handed on now. */
  def note(fingerprint: Long, hash: Int): Unit = {
    known = true
    this.fingerprint = fingerprint
    this.hash = hash
  }

  /** From now on keys of the exchange have their upstream key here. */
  def keep(keys: UpstreamOfKeys): Unit = this.keys = keys

  /** Looks for the upstream key of a row of the exchange.
    * @param key
    *   fingerprint of the exchange's whole key
    */
  def find(key: Long): Boolean =
    if (keys == null) known
    else {
      val at = keys.find(key)
      if (at >= 0) note(keys.fingerprint(at), keys.hash(at))
      at >= 0
    }
}

object UpstreamNotes {
  private val running = new ConcurrentHashMap[Long, UpstreamNotes]()

  /** Those of a running task: it writes rows to one exchange. */
  def of(task: TaskContext): UpstreamNotes = {
    val fresh = new UpstreamNotes
    val before = running.putIfAbsent(task.taskAttemptId(), fresh)
    if (before != null) before
    else {
      task.addTaskCompletionListener[Unit](t => running.remove(t.taskAttemptId()): Unit)
      fresh
    }
  }
}
