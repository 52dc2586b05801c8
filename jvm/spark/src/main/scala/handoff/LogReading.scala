package org.apache.spark.sql.keyroute.handoff

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.route.{KeyRouteException, PlannedBatch, RunningBatch}

import io.keyroute.core.routelog.RouteEntry

/** A route log in order, as a run begins with it.
  *
  * @param before
  *   the newest entry of an earlier batch
  * @param ofBatch
  *   the entry of the batch that is planned, where it was planned before
  */
private[handoff] final case class LogReading(
    history: RouteHistory,
    before: Option[RouteEntry],
    ofBatch: Option[RouteEntry]
)

/** Reads route logs at the start of runs. A file system that fails stops a query that may have a
  * table, and no other: where the checkpoint has no folder of ours there was never an entry. */
private[handoff] object LogReading extends Logging {

  /** @param vouched
    *   whether this run has planned all batches so far, without the log
    * @return
    *   or why a log that has no entries cannot be read
    * @throws KeyRouteException
    *   if entries are missing, or there may be some and they cannot be read */
  def of(batch: PlannedBatch, vouched: Boolean): Either[Throwable, LogReading] = {
    // Looked for before the log makes its folder.
    val empty = vouched || (batch.batch == 0 && !mayExist(batch))
    guarded(batch, empty) {
      val history = new RouteHistory(batch)
      history.putInOrder(batch.batch, vouched)
      val ofBatch = Option.when(history.has(batch.batch))(history.entries.entry(batch.batch))
      LogReading(history, history.newestBefore(batch.batch), ofBatch)
    }
  }

  /** Of a run whose state store provider is not ours: that no table is in force.
    * @throws KeyRouteException
    *   if one is, or may be */
  def checkNoTable(batch: PlannedBatch): Unit = {
    val layout = layoutOf(batch)
    guarded(batch, !mayExist(batch)) {
      // This batch's offsets name another provider, so that no entry of ours can be of it.
      val now = System.currentTimeMillis()
      if (RouteLog.batches(layout).exists(_ >= batch.batch)) {
        OtherSnapshots.setAside(batch, layout, now)
        RouteLog.moveAsideFrom(layout, batch.batch, now)
      }
      if (RouteLog.tableBefore(layout, batch.batch)) throw new KeyRouteException(
        s"the state in ${batch.checkpoint} is laid out by a routing table, but the query was " +
          "started with the state store provider " +
          s"${batch.session.sessionState.conf.stateStoreProviderClass}. Start it with the one that " +
          "it had."
      )
    }.left.foreach { e =>
      logWarning(s"KeyRoute cannot look for a route log in ${batch.checkpoint}, which has none", e)
    }
  }

  private def guarded[T](batch: PlannedBatch, empty: => Boolean)(
      body: => T
  ): Either[Throwable, T] =
    try Right(body)
    catch {
      case e: KeyRouteException => throw e
      case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
        if (empty) Left(e)
        else throw new KeyRouteException(
          s"the route log of ${batch.checkpoint} (${layoutOf(batch).routes}) cannot be read: " +
            s"$e. Whether a routing table is in force is not known, so batch ${batch.batch} cannot " +
            "be planned: start the query again when the folder can be read.",
          e
        )
    }

  private def mayExist(batch: PlannedBatch): Boolean =
    try layoutOf(batch).exists
    catch { case NonFatal(_) if !RunningBatch.isStopped(batch.session) => true }

  private def layoutOf(batch: PlannedBatch) =
    new CheckpointLayout(batch.checkpoint, batch.session.sessionState.newHadoopConf())
}
