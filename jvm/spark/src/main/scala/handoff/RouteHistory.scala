package org.apache.spark.sql.keyroute.handoff

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.route.{KeyRouteException, PlannedBatch, RunningBatch}

import io.keyroute.core.routelog.RouteEntry

/** The checkpoint's side of a run: what was routed how, and the files to do it again. */
private[handoff] final class RouteHistory(batch: PlannedBatch) extends Logging {
  val layout: CheckpointLayout =
    new CheckpointLayout(batch.checkpoint, batch.session.sessionState.newHadoopConf())
  val entries: RouteLog = new RouteLog(batch.session, layout)
  val tables: TableStore = new TableStore(layout)

  private val retained = batch.session.sessionState.conf.minBatchesToRetain
  private var firstEntry: Option[RouteEntry] = None
  private var lastSwitch: Option[Long] = None
  private var since = 0L
  private var unseen = false

  /** The query's first entry, once it is there. It is never dropped: it says that KeyRoute was there
    * from the beginning. */
  def first: Option[RouteEntry] = firstEntry

  /** Whether an earlier run may have begun the run's first batch, where that has no entry: a batch
    * after one with an entry would have its own. */
  def mayHaveBegun: Boolean = unseen

  def has(batch: Long): Boolean = entries.batches.contains(batch)

  def newestBefore(batch: Long): Option[RouteEntry] =
    entries.batches.filter(_ < batch).lastOption.map(entries.entry)

  /** Tables that an entry names; version 0 is none. */
  def inForce(version: Long, hash: String): Option[InForce] =
    Option.when(version > 0)(InForce(tables.get(version, hash), hash))

  /** Before the first batch of a run: what is of another timeline goes aside, and what is left must
    * be whole.
    *
    * @param vouched
    *   whether this run knows that there is no entry: it has planned all batches so far
    * @throws KeyRouteException
    *   if entries are missing: the folder is not of this checkpoint */
  def putInOrder(next: Long, vouched: Boolean): Unit = {
    val now = System.currentTimeMillis()
    if (vouched) entries.batches.headOption.foreach(b => throw entries.lost(b, null))
    val strangers = entries.batches.filter(b =>
      b > next || b == next && !isOfThisTimeline(entries.entry(b))
    )
    unseen = !vouched && next > 0 && !newestBefore(next).exists(e =>
      e.batch == next - 1 && layout.hasOffsets(e.batch) && isOfThisTimeline(e)
    )
    if (strangers.nonEmpty || unseen) OtherSnapshots.setAside(batch, layout, now)
    strangers.foreach(setAside(_, now))
    firstEntry = entries.batches.headOption.map(entries.entry)
    if (firstEntry.isEmpty && next > 0 && !vouched) checkMayBeMissing(next)
    newestBefore(next).foreach(checkFollowed(_, next))
    since = switchBefore(next)
    tidied {
      layout.dropHandoffs(_ < next)
      retainAll(next)
    }
  }

  private def setAside(batch: Long, nowMs: Long): Unit = {
    logWarning(s"KeyRoute: the route entry of batch $batch of ${layout.checkpoint} is of another " +
      s"timeline (was the query rolled back?); it is moved to ${layout.aside}")
    entries.moveAside(batch, nowMs)
  }

  private def isOfThisTimeline(entry: RouteEntry): Boolean =
    entry.queryId == batch.queryId.toString && layout.isOfThisTimeline(entry)

  private def checkMayBeMissing(next: Long): Unit =
    if (
      // The batch that is run first after an adoption: again, or the next one. Its entry comes first.
      !layout.adoptedAt.exists(b => b == next || b == next - 1) &&
      !Settings.assumeNoTable.orDefault(batch.session.conf.getOption)
    ) throw new KeyRouteException(
      s"${layout.checkpoint} stands at batch $next but has no route log (${layout.routes}): it is a " +
        "copy without the folder keyroute, or KeyRoute has never planned a batch of it, or the first " +
        "entry could not be written. In the first case copy that folder, too, or the results would " +
        "be wrong. Only if you know that the query never had a routing table, start it once with " +
        s"${Settings.assumeNoTable.key}=true."
    )

  private def checkFollowed(newest: RouteEntry, next: Long): Unit =
    if (newest.hasTable) {
      if (newest.batch != next - 1) throw new KeyRouteException(
        s"${layout.checkpoint} stands at batch $next, but its route log ends with batch " +
          s"${newest.batch}, where routing tables ${newest.tableVersion} were in force: entries are " +
          s"missing in ${layout.routes}. Restore that folder from the same copy as the rest."
      )
      if (layout.hasOffsets(newest.batch) && !isOfThisTimeline(newest)) throw new KeyRouteException(
        s"the route entry of batch ${newest.batch} was written for other input than " +
          s"${layout.checkpoint} holds: its folder keyroute is of another copy. Restore both from " +
          "the same one."
      )
    }

  /** The batch that switched to the tables in force; 0 where there are none. Its entry is kept. */
  def sinceBatch: Long = since

  private def switchBefore(batch: Long): Long = {
    val older = entries.batches.filter(_ < batch).reverseIterator.map(entries.entry)
    val newest = older.nextOption()
    newest.filter(_.hasTable).fold(0L) { n =>
      (Iterator.single(n) ++ older.takeWhile(_.tableVersion == n.tableVersion))
        .foldLeft(n.batch)((_, e) => e.batch)
    }
  }

  /** Writes the entry of a batch. */
  def commit(entry: RouteEntry): Unit = {
    entries.commit(entry)
    if (firstEntry.isEmpty) firstEntry = Some(entry)
    replayed(entry)
  }

  /** The entry of this batch was there already. */
  def replayed(entry: RouteEntry): Unit =
    if (entry.switch.isDefined) {
      lastSwitch = Some(entry.batch)
      since = entry.batch
    }

  /** After each entry: drops the one that Spark drops now, and what a switch that is committed
    * leaves. What cannot be dropped lies about until the query's next start. */
  def retain(batch: Long): Unit = tidied {
    val old = batch - retained - 1
    if (firstEntry.exists(_.batch < old) && old != since) entries.drop(old)
    lastSwitch.filter(_ < batch).foreach { b =>
      layout.dropHandoffs(_ == b)
      purgeTables()
      lastSwitch = None
    }
  }

  private def tidied(body: => Unit): Unit =
    try body
    catch {
      case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
        logWarning(s"KeyRoute: old files of ${layout.checkpoint} cannot be dropped", e)
    }

  private def retainAll(next: Long): Unit = {
    val kept = firstEntry.map(_.batch).toSet + since
    entries.batches.filter(b => b < next - retained && !kept(b)).foreach(entries.drop)
    purgeTables()
  }

  private def purgeTables(): Unit =
    if (layout.names(layout.tables).size > RouteHistory.TablesKept) {
      val kept = entries.batches.map(entries.entry)
      val named = kept.flatMap(e =>
        (e.tableVersion -> e.tableHash) +: e.switch.map(s => s.fromVersion -> s.fromHash).toSeq
      )
      tables.purge(kept.map(_.tableVersion).maxOption.getOrElse(0L), named.toSet)
    }
}

private[handoff] object RouteHistory {

  /** Files of tables that may lie about before they are looked through. */
  private val TablesKept = 10
}
