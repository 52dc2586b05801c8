package org.apache.spark.sql.keyroute.state

import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.TaskContext
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  ReadStateStore,
  StateStore,
  StateStoreId,
  StateStoreProvider,
  StateStoreProviderId
}
import org.apache.spark.sql.keyroute.count.TaskReports
import org.apache.spark.sql.keyroute.route.{BatchRoute, KeyRouteException, TaskRoute}

/** A state store provider that moves rows when its batch switches tables: version N is loaded, what
  * belongs elsewhere leaves, what belongs here comes, and both are committed with the batch. It acts
  * only for tasks of a batch that KeyRoute planned, of its own run. */
trait Migrating extends StateStoreProvider {
  private var identity: StateStoreProviderId = _
  private var hadoopConf: Configuration = _
  private var guard: RouteGuard = _
  @volatile private var early: Option[StateStore] = None
  @volatile private var sampled = false

  /** By `init`. */
  protected def register(id: StateStoreId, conf: Configuration): Unit = {
    hadoopConf = conf
    identity = StateStoreProviderId(id, UUID.fromString(conf.get(StreamExecution.RUN_ID_KEY)))
    guard = new RouteGuard(identity.storeId, conf)
    LoadedStores.add(identity, this)
  }

  /** By `close`. */
  protected def unregister(): Unit =
    if (identity != null) LoadedStores.remove(identity, this)

  def providerId: StateStoreProviderId = identity

  /** Reads a version that a load would find in place; None where it would not.
    *
    * @param checkpointId
    *   the version's unique id, in checkpoint format 2
    */
  def readLoaded[T](version: Long, checkpointId: Option[String])(use: RawState => T): Option[T]

  /** The bytes of a store that this provider has just loaded for writing. */
  protected def rawOf(store: StateStore): RawState with RawWriter

  /** Loads for writing: the switch of this batch applied, or the guard passed.
    *
    * @param load
    *   Spark's own load of the version
    */
  protected def migrated(version: Long)(load: => StateStore): StateStore =
    myRoute match {
      case Some(route) =>
        val store = load
        try {
          checkBatch(route, version)
          arrange(route, store)
        } catch {
          case t: Throwable =>
            store.abort()
            throw t
        }
        store
      case None =>
        guard.check(version)
        load
    }

  /** Loads for reading. Before a switch the version is loaded for writing, since what is written to a
    * store loaded for reading is lost; [[upgraded]] hands the same store out again. */
  protected def readMigrated(version: Long, checkpointId: Option[String])(
      load: => ReadStateStore
  ): ReadStateStore =
    if (myRoute.exists(r => r.batch == version && r.switch.isDefined)) {
      val store = getStore(version, checkpointId, forceSnapshotOnCommit = false, loadEmpty = false)
      early = Some(store)
      Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => dropUnused(store)))
      store
    } else load

  /** Of a task that failed between load and commit. */
  private def dropUnused(store: StateStore): Unit = {
    if (early.exists(_ eq store)) early = None
    if (!store.hasCommitted) store.abort()
  }

  /** Spark's upgrade of a store loaded for reading, unless it was loaded for writing already. */
  protected def upgraded(readStore: ReadStateStore, version: Long)(
      upgrade: => StateStore
  ): StateStore =
    early match {
      case Some(store) if store eq readStore =>
        early = None
        store
      case _ => migrated(version)(upgrade)
    }

  private def myRoute: Option[BatchRoute] =
    TaskRoute.current.filter(_.runId == identity.queryRunId)

  private def checkBatch(route: BatchRoute, version: Long): Unit =
    if (route.batch != version) throw new KeyRouteException(
      s"${identity.storeId}: version $version was asked for in a task of batch ${route.batch}"
    )

  private def arrange(route: BatchRoute, store: StateStore): Unit = {
    val id = identity.storeId
    for (group <- route.groupOf.get(id.operatorId)) {
      if (route.version > 0) guard.tableSeen()
      lazy val raw = rawOf(store)
      route.switch.foreach { switch =>
        val start = System.nanoTime()
        new MovedRowsApply(id, switch.value, hadoopConf).apply(raw)
        Migrating.report(route, (System.nanoTime() - start) / 1000000)
      }
      for {
        keys <- route.stores.find(s => s.operator == id.operatorId && s.store == id.storeName)
        table <- route.tables.value.table(group) if !sampled
      } {
        new PlacementSample(id, keys, table, route.version).check(raw)
        sampled = true
      }
    }
  }
}

object Migrating {

  /** A lost report costs a figure, never the task. */
  private def report(route: BatchRoute, applyMs: Long): Unit =
    try TaskReports.sendApplied(route.runId, route.batch, applyMs)
    catch { case NonFatal(_) => () }

  /** The query's checkpoint, from the id of one of its stores. */
  def checkpoint(id: StateStoreId): Path = new Path(id.checkpointRootLocation).getParent
}
