package org.apache.spark.sql.keyroute.stress

import java.util.UUID

import scala.collection.immutable.VectorMap

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.publish.{Application, Publisher, RunningQuery, SwitchFigures}

import io.keyroute.core.table.RoutingTables

/** Reconfigures every query all the time, for tests: in place of ZooKeeper and a controller, it asks
  * for random tables every few batches. Results must be what they are without it.
  *
  * @param every
  *   batches from one change to the next
  * @param keys
  *   fingerprints of the keys that a run's statistics know of a group, the heaviest first
  */
final class StressMode(every: Int, seed: Long, keys: (UUID, Long) => Seq[Long])
    extends Publisher with Logging {
  private val tables = new StressTables(seed)
  // The last run of each query: a query that runs for one batch at a time is to change as well.
  private var queries = VectorMap.empty[UUID, StressedRun]

  override def open(application: Application): Unit = logWarning(
    s"KeyRoute's stress mode is on, which is for tests: every $every batches each query changes to " +
      s"random tables. ${Settings.stressSeed.key}=$seed makes the same tables again"
  )

  override def started(query: RunningQuery): Unit = synchronized {
    val left = queries.get(query.queryId).fold(every)(_.left)
    queries = queries.removed(query.queryId)
      .updated(query.queryId, new StressedRun(query, left))
    if (queries.size > StressMode.MostQueries)
      queries.find(_._2.ended).foreach { case (id, _) => queries = queries.removed(id) }
  }

  override def asked(runId: UUID): Option[RoutingTables] = synchronized {
    run(runId).flatMap { run =>
      run.left = math.max(0, run.left - 1)
      if (run.left == 0 && run.pending.isEmpty) {
        run.version += 1
        run.pending = Some(tables.draw(
          run.query,
          run.version,
          shape => keys(runId, shape.group).take(StressMode.MostKeys)
        ))
      }
      run.pending
    }
  }

  /** The tables stay asked for. */
  override def postponed(runId: UUID, reason: String): Unit = ()

  override def refused(runId: UUID, version: Long, reason: String): Unit = synchronized {
    logWarning(s"KeyRoute: stress mode's version $version is refused: $reason")
    run(runId).foreach(_.next(every, version))
  }

  override def migrating(runId: UUID, figures: SwitchFigures): Unit = synchronized {
    run(runId).foreach(_.next(every, figures.toVersion))
  }

  override def batchEnded(runId: UUID, batch: Long): Unit = ()

  override def ended(runId: UUID): Unit = synchronized(run(runId).foreach(_.ended = true))

  override def close(): Unit = ()

  private def run(runId: UUID): Option[StressedRun] =
    queries.values.find(_.query.runId == runId)
}

object StressMode {
  private[stress] val MostQueries = 256

  /** Entries that a table has at most. */
  private val MostKeys = 10000
}

/** @param left
  *   batches until the next change */
private final class StressedRun(val query: RunningQuery, var left: Int) {

  /** The newest one drawn, or in force. */
  var version: Long = query.inForce.version
  var pending: Option[RoutingTables] = None
  var ended: Boolean = false

  /** What was asked for is over. A run that replays a switch learns of its version here. */
  def next(every: Int, over: Long): Unit = {
    version = math.max(version, over)
    pending = None
    left = every
  }
}
