package org.apache.spark.sql.keyroute.state

import scala.util.control.{ControlThrowable, NonFatal}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.KeyRouteException

import io.keyroute.core.table.GroupTable

/** Looks at some rows of a partition that was loaded for the first time in a run: they must belong
  * to it by the table in force. It finds a checkpoint whose state and route log do not match.
  *
  * @param version
  *   of the table; 0 where none is in force, and the table is empty
  */
final class PlacementSample(id: StateStoreId, keys: StoreKeys, table: GroupTable, version: Long)
    extends Logging {

  /** @throws KeyRouteException
    *   if a row belongs to another partition */
  def check(state: RawState): Unit =
    try look(state)
    catch {
      case e: KeyRouteException => throw e
      // What cannot be looked at must not stop a query without a table.
      case NonFatal(e) if version == 0 =>
        logWarning(s"KeyRoute cannot tell whether the state of $id lies by Spark's hash", e)
    }

  private def look(state: RawState): Unit = {
    val present = state.families
    keys.families.filter(f => present.contains(f.family)).foreach { family =>
      val router = new FamilyRouter(keys, family)
      var left = PlacementSample.Rows
      try
        state.foreach(family.family) { (key, _) =>
          router.take(key)
          val partition = router.router.partition(table)
          if (partition != id.partitionId) misplaced(family, partition)
          left -= 1
          if (left == 0) throw PlacementSample.Enough
        }
      catch { case PlacementSample.Enough => () }
    }
  }

  private def misplaced(family: FamilyKeys, partition: Int): Nothing = {
    val (by, way) =
      if (version > 0) (s"version $version of the routing tables", "")
      else (
        "Spark's hash, and its route log knows of no routing table",
        " Only if you know that the query never had a routing table, start it with " +
          s"${Settings.assumeNoTable.key}=true."
      )
    throw new KeyRouteException(
      s"$id: a row of family ${family.family} belongs to partition $partition by $by. The state " +
        "does not match the checkpoint's folder keyroute: restore both from the same copy." + way
    )
  }
}

object PlacementSample {

  /** Of each family. */
  val Rows: Int = 256

  private object Enough extends ControlThrowable
}
