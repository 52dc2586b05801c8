package org.apache.spark.sql.keyroute.handoff

import scala.reflect.ClassTag
import scala.util.control.NonFatal

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.publish.{
  OperatorState,
  Reconfigurations,
  RunningQuery,
  SwitchFigures
}
import org.apache.spark.sql.keyroute.route.{
  BatchDecider,
  BatchDecision,
  BatchRoute,
  KeyRouteException,
  PlannedBatch,
  RunningBatch,
  StateProviders
}
import org.apache.spark.sql.keyroute.state.StoreKeys

import io.keyroute.core.routelog.{BypassedOperator, RouteEntry, Switch => LoggedSwitch}
import io.keyroute.core.table.RoutingTables

/** Decides by which tables each batch of one run is routed, from what the checkpoint says was used
  * and what is asked for. Called on the stream's thread, once a batch.
  *
  * The route log is the authority. A batch does not run before its entry is written, and an entry
  * that is there when a run begins is replayed. Who writes a batch's entry first runs it: another
  * driver stops. Only as long as there is no entry at all may one fail to be written.
  */
final class CheckpointDecider(reconfigurations: () => Reconfigurations)
    extends BatchDecider with Logging {
  private var run: Option[RunState] = None
  // Of a run that has planned batches without its route log, which has no entry.
  private var unread: Option[RunState] = None

  override def decide(batch: PlannedBatch): BatchDecision = {
    val conf = batch.session.sessionState.conf
    val desk = new Desk(reconfigurations, batch)
    run match {
      case None if !StateProviders.isOurs(conf) => beginUnrouted(batch, desk)
      case None => begin(batch, desk)
      case Some(state) if state.history.isEmpty => decision(batch, state, state.groups, None)
      case Some(state) => next(batch, desk, state, first = false)
    }
  }

  /** A run whose provider cannot move state: everything on Spark's hash, and nothing written. */
  private def beginUnrouted(batch: PlannedBatch, desk: Desk): BatchDecision = {
    val conf = batch.session.sessionState.conf
    // The rule has said why, unless it could not read the plan.
    val reason = (batch.groups.flatMap(_.unroutable) ++ StateProviders.problem(conf)).head
    LogReading.checkNoTable(batch)
    val state = untabled(batch, RouteGroups(Nil, batch.operators.map(_.id -> reason).toMap))
    run = Some(state)
    announce(batch, desk, state, 0L, Some(reason))
    decision(batch, state, state.groups, None)
  }

  private def untabled(batch: PlannedBatch, groups: RouteGroups): RunState =
    RunState(None, groups, None, broadcast(batch, groups.complete(tablesOrNone(batch, None))))

  private def begin(batch: PlannedBatch, desk: Desk): BatchDecision = {
    AttemptWatch.of(batch.session.sparkContext): Unit
    LogReading.of(
      batch,
      vouched = unread.isDefined
    ).fold(beginUnread(batch, desk, _), begin(batch, desk, _))
  }

  /** A log without entries that cannot be read must not stop the query; the next batch tries again. */
  private def beginUnread(batch: PlannedBatch, desk: Desk, why: Throwable): BatchDecision = {
    val state = unread.getOrElse {
      logWarning(s"KeyRoute: the route log of ${batch.checkpoint} cannot be read yet", why)
      val begun = untabled(batch, RouteGroups.planned(batch))
      announce(batch, desk, begun, 0L, None)
      begun
    }
    unread = Some(state)
    decision(batch, state, state.groups.checked(batch, inForce = false), None)
  }

  /** The first planning of a run: a batch that was planned before is planned the same. */
  private def begin(batch: PlannedBatch, desk: Desk, log: LogReading): BatchDecision = {
    val history = log.history
    val groups = log.before.filter(_.hasTable).map(RouteGroups.of)
      .orElse(unread.map(_.groups)).getOrElse(RouteGroups.planned(batch))
    val inForce = log.before.flatMap(e => history.inForce(e.tableVersion, e.tableHash))
    val state = RunState(
      Some(history),
      groups,
      inForce,
      broadcast(batch, groups.complete(tablesOrNone(batch, inForce))),
      untabled = if (inForce.isEmpty) groups.storesToSample(batch) else Nil
    )
    run = Some(state)
    if (unread.isEmpty) announce(batch, desk, state, history.sinceBatch, None)
    log.ofBatch match {
      case Some(entry) => replay(batch, desk, history, state, entry)
      case None => next(batch, desk, state, first = true)
    }
  }

  private def replay(
      batch: PlannedBatch,
      desk: Desk,
      history: RouteHistory,
      before: RunState,
      entry: RouteEntry
  ): BatchDecision = {
    val inForce = history.inForce(entry.tableVersion, entry.tableHash)
    val known = if (entry.hasTable) RouteGroups.of(entry) else before.groups
    val groups = known.checked(batch, inForce.isDefined)
    val stores = if (inForce.isDefined) groups.stores(batch) else Nil
    val to = broadcast(batch, groups.complete(tablesOrNone(batch, inForce)))
    val switch = entry.switch.map { logged =>
      val old = history.inForce(logged.fromVersion, logged.fromHash)
      val from = groups.complete(tablesOrNone(batch, old))
      new Handoff(batch, history.layout, groups.shapes, stores, broadcast(batch, from), to)
        .restore(logged)
    }
    history.replayed(entry)
    val state = before.copy(
      groups = known,
      inForce = inForce,
      tables = to,
      stores = Option.when(inForce.isDefined)(stores)
    )
    run = Some(state)
    entry.switch.foreach(s => desk.migrating(replayedFigures(entry, s)))
    decision(batch, state, groups, switch)
  }

  // How long the handoff took, and what it saw, was the earlier run's to know.
  private def replayedFigures(entry: RouteEntry, logged: LoggedSwitch): SwitchFigures =
    SwitchFigures(
      entry.batch,
      logged.fromVersion,
      entry.tableVersion,
      rowsMoved = logged.moved.map(_.rows).sum,
      rowsSeen = 0,
      handoffMs = 0,
      pulled = true,
      toHash = entry.tableHash
    )

  private def next(
      batch: PlannedBatch,
      desk: Desk,
      before: RunState,
      first: Boolean
  ): BatchDecision = {
    val history = before.history.get
    val groups = before.groups.checked(batch, before.inForce.isDefined)
    val switched = desk.asked(groups, before.version)
      .flatMap(asked => switchTo(batch, desk, groups, asked, first))
    val state = switched.fold(run.get)(_.state)
    record(batch, history, state, switched.map(_.switched))
    run = Some(state)
    switched.foreach { made =>
      val hash = made.state.inForce.fold("")(_.hash)
      desk.migrating(Handoff.figures(batch.batch, made.switched, hash))
    }
    history.retain(batch.batch)
    decision(batch, state, groups, switched.map(_.switched.switch))
  }

  /** Writes the batch's entry: from here on the batch is decided. */
  private def record(
      batch: PlannedBatch,
      history: RouteHistory,
      state: RunState,
      switched: Option[Switched]
  ): Unit = {
    def entry = RouteEntry(
      batch.queryId.toString,
      batch.batch,
      history.layout.offsetsHash(batch.batch),
      state.version,
      state.inForce.fold("")(_.hash),
      state.groups.shapes,
      state.groups.bypassed.toSeq.sorted.map { case (op, why) => BypassedOperator(op, why) },
      switched.map { s =>
        val from = run.flatMap(_.inForce)
        LoggedSwitch(from.fold(0L)(_.tables.version), from.fold("")(_.hash), s.moved)
      }
    )
    val mayFail = state.inForce.isEmpty && history.first.isEmpty
    try history.commit(entry)
    catch {
      case e: KeyRouteException => throw e
      // No table was ever in force: this must not stop the query. The next batch tries again.
      case NonFatal(e) if mayFail && !RunningBatch.isStopped(batch.session) =>
        logWarning(s"KeyRoute: the first route entry of ${batch.checkpoint} cannot be written", e)
      case NonFatal(e) if !RunningBatch.isStopped(batch.session) =>
        throw new KeyRouteException(
          s"the route entry of batch ${batch.batch} of ${batch.checkpoint} cannot be written: $e. " +
            s"The batch has not run: start the query again when ${history.layout.routes} can be " +
            "written.",
          e
        )
    }
  }

  /** Tries a switch; None where it does not happen in this batch. */
  private def switchTo(
      batch: PlannedBatch,
      desk: Desk,
      groups: RouteGroups,
      asked: RoutingTables,
      first: Boolean
  ): Option[SwitchMade] = {
    val state = run.get
    val attempts = state.attempts.of(asked)
    if (attempts.over) None
    else new SwitchTry(batch, state, groups, attempts.failed, first).apply(asked) match {
      case made: SwitchMade => Some(made)
      case SwitchFailed(reason, forGood) =>
        val again = attempts.failedAgain
        val most = Settings.handoffAttempts.orDefault(batch.session.conf.getOption)
        if (forGood || again.failed >= most) {
          run = Some(state.copy(attempts = again.refused))
          val times = if (forGood) "" else s"given up after ${again.failed} batches: "
          desk.refused(asked.version, times + reason)
        } else {
          run = Some(state.copy(attempts = again))
          desk.postponed(reason)
        }
        None
    }
  }

  private def decision(
      batch: PlannedBatch,
      state: RunState,
      groups: RouteGroups,
      switch: Option[Switch]
  ): BatchDecision = {
    val stores: Seq[StoreKeys] =
      if (state.version == 0) state.untabled
      else state.stores.getOrElse {
        val read = groups.stores(batch)
        run = Some(state.copy(stores = Some(read)))
        read
      }
    BatchDecision(
      BatchRoute(
        batch.queryId,
        batch.runId,
        batch.batch,
        groups.groupOf,
        state.tables,
        state.version,
        switch.map(broadcast(batch, _)),
        stores
      ),
      groups.bypassed
    )
  }

  private def announce(
      batch: PlannedBatch,
      desk: Desk,
      state: RunState,
      since: Long,
      bypass: Option[String]
  ): Unit =
    desk.started(RunningQuery(
      batch.queryId,
      batch.runId,
      batch.name,
      batch.checkpoint,
      batch.session.sessionState.newHadoopConf(),
      state.groups.shapes,
      batch.operators.map(o =>
        OperatorState(
          o.id,
          o.name,
          state.groups.groupOf.getOrElse(o.id, o.id),
          state.groups.bypassed.get(o.id)
        )
      ),
      tablesOrNone(batch, state.inForce),
      since,
      bypass
    ))

  private def tablesOrNone(batch: PlannedBatch, tables: Option[InForce]): RoutingTables =
    tables.fold(RoutingTables.empty(batch.queryId.toString, Nil))(_.tables)

  private def broadcast[T: ClassTag](batch: PlannedBatch, value: T): Broadcast[T] =
    batch.session.sparkContext.broadcast(value)
}
