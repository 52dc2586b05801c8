package org.apache.spark.sql.keyroute.state

import java.io.IOException

import org.apache.hadoop.conf.Configuration

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.SparkSeam
import org.apache.spark.sql.keyroute.handoff.{CheckpointLayout, RouteLog}
import org.apache.spark.sql.keyroute.route.KeyRouteException

/** Keeps a task that knows no route from writing state that is laid out by a table: its rows came by
  * Spark's hash. One for a provider; looks into the checkpoint once, and again when it has seen a
  * table since. */
final class RouteGuard(id: StateStoreId, conf: Configuration) extends Logging {
  @volatile private var clear = false

  /** A batch with a table ran here. */
  def tableSeen(): Unit = clear = false

  /** @throws KeyRouteException
    *   if the newest route entry routes the store's operator by a table */
  def check(version: Long): Unit =
    if (!clear) {
      if (!routedByTable(version)) clear = version > 0 // before, it may not have been read
      else if (!SparkSeam.isStateReader) throw new KeyRouteException(
        s"$id: version $version was asked for by a batch that KeyRoute did not plan, but its state " +
          "is laid out by a routing table. Is the SQL extension of KeyRoute missing " +
          "(spark.plugins, spark.sql.extensions)? Start the query with it."
      )
    }

  private def routedByTable(version: Long): Boolean = {
    val layout = new CheckpointLayout(Migrating.checkpoint(id), conf)
    try RouteLog.newest(layout, Long.MaxValue).exists(_.routes(id.operatorId))
    catch {
      // No state yet, so that the next version looks again; or no folder of ours, so no table.
      case e: IOException if version == 0 || !layout.mayExist =>
        logWarning(s"$id: the route log cannot be read yet", e)
        false
    }
  }
}
