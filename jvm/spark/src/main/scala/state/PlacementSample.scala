package org.apache.spark.sql.keyroute.state

import scala.util.control.ControlThrowable

import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.route.KeyRouteException

import io.keyroute.core.table.GroupTable

/** Looks at some rows of a partition that was loaded for the first time in a run: they must belong
  * to it by the table in force. It finds a checkpoint whose state and route log do not match. */
final class PlacementSample(id: StateStoreId, keys: StoreKeys, table: GroupTable, version: Long) {

  /** @throws KeyRouteException
    *   if a row belongs to another partition */
  def check(state: RawState): Unit = {
    val present = state.families
    keys.families.filter(f => present.contains(f.family)).foreach { family =>
      val router = new FamilyRouter(keys, family)
      var left = PlacementSample.Rows
      try
        state.foreach(family.family) { (key, _) =>
          router.take(key)
          val partition = router.router.partition(table)
          if (partition != id.partitionId) throw new KeyRouteException(
            s"$id: a row of family ${family.family} belongs to partition $partition by version " +
              s"$version of the routing tables. The state does not match the checkpoint's folder " +
              "keyroute: restore both from the same copy."
          )
          left -= 1
          if (left == 0) throw PlacementSample.Enough
        }
      catch { case PlacementSample.Enough => () }
    }
  }
}

object PlacementSample {

  /** Of each family. */
  val Rows: Int = 256

  private object Enough extends ControlThrowable
}
