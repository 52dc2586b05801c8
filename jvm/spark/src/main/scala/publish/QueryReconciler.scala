package org.apache.spark.sql.keyroute.publish

import org.apache.zookeeper.CreateMode

import org.apache.spark.internal.Logging

import io.keyroute.core.reconfiguration._
import io.keyroute.core.table.RoutingTables
import io.keyroute.proto.v1.Reconfiguration

/** Brings one run and its nodes in ZooKeeper together: reads all of them, tells the state machine
  * what there is, and does what it says. Every write is guarded by what was read, so that a pass
  * that was cut off, lost a race or found ZooKeeper emptied is made good by the next one.
  *
  * On the publisher's thread only; throws where ZooKeeper or the checkpoint does not answer.
  *
  * @param store
  *   puts tables into the query's checkpoint
  * @param notice
  *   tells people what they should know, by topic; None takes it back
  */
private[publish] final class QueryReconciler(
    session: ZooKeeperSession,
    tree: ZooKeeperTree,
    appId: String,
    store: (RunningQuery, RoutingTables) => Unit,
    notice: (PublishedRun, String, Option[String]) => Unit,
    nowMs: () => Long
) extends Logging {
  private val reader = new TableReader(session, tree)

  /** Takes in what the stream's thread told. Needs the checkpoint, but no ZooKeeper. */
  def absorb(run: PublishedRun): Unit = {
    if (run.state.isEmpty) run.state = Some(restored(run))
    // Read first: the switch of a batch is told before its commit.
    val committed = run.committed.get
    run.planned.getAndSet(None).foreach { case (target, batch) =>
      feed(run, SwitchPlanned(target, batch))
    }
    run.refusal.getAndSet(None).foreach { case (target, reason) =>
      feed(run, TableRefused(target, reason))
    }
    if (committed > run.toldCommitted) {
      feed(run, BatchCommitted(committed))
      run.toldCommitted = committed
    }
  }

  /** One pass with ZooKeeper. */
  def reconcile(run: PublishedRun): Unit = if (register(run)) {
    absorb(run)
    val id = run.query.queryId
    write(tree.meta(id), Payloads.meta(run.query))
    found(run).foreach { there =>
      feed(run, PhaseSeen(there.getPhase, Target(there.getVersion, there.getHash), there.getReason))
    }
    session.read(tree.wanted(id)).foreach { node =>
      val wanted = Payloads.readTableRef(node.data, "wanted")
      feed(run, WantedSeen(Target(wanted.version, wanted.hash)))
    }
    run.state.foreach {
      // In each pass, so that a read that failed is made again.
      case Preparing(_, target, _) => prepare(run, target)
      case _ => ()
    }
    feed(run, WorldSeen)
  }

  /** Gives up the registration of a run that is over. */
  def unregister(run: PublishedRun): Unit =
    session.read(tree.live(run.query.queryId)).foreach { node =>
      if (mine(node) && Payloads.readLive(node.data).runId == run.query.runId.toString) {
        session.delete(tree.live(run.query.queryId), node.version)
      }
    }

  // The checkpoint alone says where a run starts. A switch whose batch is not committed is
  // replayed.
  private def restored(run: PublishedRun): State = {
    val now = run.inForce
    val open = now.version > 0 && !CheckpointCommits.holds(run.query, now.batch)
    if (open) State.restored(InForce(Target(0, ""), 0), Some(now.tables -> now.batch))
    else State.restored(now, None)
  }

  private def feed(run: PublishedRun, event: Event): Unit = run.state.foreach { state =>
    val (after, actions) = ReconfigurationMachine.step(state, event)
    if (after != state) logInfo(s"query ${run.query.queryId}: $event: $after")
    run.state = Some(after)
    actions.foreach(act(run, _))
  }

  private def act(run: PublishedRun, action: Action): Unit = action match {
    case AllowSwitch(target) =>
      run.asked.set(run.stored.filter(t => t.version == target.version && t.hash == target.hash))
    case WithdrawSwitch(_) => run.asked.set(None)
    case write: WritePhase => if (session.connected) writePhase(run, write)
    case WriteInForce(it) => if (session.connected) writeInForce(run, it)
    case Ignored(why) => logDebug(s"query ${run.query.queryId}: $why")
  }

  private def prepare(run: PublishedRun, target: Target): Unit = {
    val wanted = TableRef(target.version, target.hash)
    reader.read(run.query.queryId, wanted, run.query.groups) match {
      case Right(tables) =>
        store(run.query, tables)
        run.stored = Some(tables)
        feed(run, TableStored(target))
      case Left(reason) =>
        logWarning(s"query ${run.query.queryId}: version ${target.version} is refused: $reason")
        feed(run, TableRefused(target, reason))
    }
  }

  private def found(run: PublishedRun): Option[Reconfiguration] =
    session.read(tree.reconfiguration(run.query.queryId))
      .map(node => Payloads.readReconfiguration(node.data))

  private def writePhase(run: PublishedRun, write: WritePhase): Unit = {
    val path = tree.reconfiguration(run.query.queryId)
    val node = session.read(path)
    val there = node.map(n => Payloads.readReconfiguration(n.data))
    if (PhaseOrder.replaces(there, write)) {
      // What the controller predicted stays with its version.
      val base = there.filter(_.getVersion == write.target.version)
        .fold(Reconfiguration.newBuilder())(_.toBuilder)
      val data = Payloads.reconfiguration(base.setFormat(1).setPhase(write.phase)
        .setVersion(write.target.version).setHash(write.target.hash).setBatch(write.batch)
        .setReason(write.reason).setBy(run.query.runId.toString).setUpdatedMs(nowMs()).build())
      val won = node.fold(session.create(path, data))(n => session.set(path, data, n.version))
      // Who lost reads again: the watch on the node has fired.
      if (!won) logDebug(s"$path was written by another at the same time")
    }
  }

  private def writeInForce(run: PublishedRun, it: InForce): Unit = {
    val path = tree.inForce(run.query.queryId)
    val node = session.read(path)
    // After a restart in mid-switch the version before is not known.
    val unknown = it.version == 0 && (node.isEmpty || run.inForce.version > 0)
    val same = node.exists { n =>
      val there = Payloads.readInForce(n.data)
      there.table == TableRef(it.version, it.tables.hash) && there.batch == it.batch
    }
    if (!unknown && !same) {
      val data = Payloads.inForce(PublishedInForce(
        TableRef(it.version, it.tables.hash),
        it.batch,
        run.query.runId.toString
      ))
      node.fold(session.create(path, data))(n => session.set(path, data, n.version))
      ()
    }
  }

  private def write(path: String, data: Array[Byte]): Unit = {
    session.read(path) match {
      case None => session.create(path, data)
      case Some(node) if !java.util.Arrays.equals(node.data, data) =>
        session.set(path, data, node.version)
      case Some(_) => true
    }
    ()
  }

  /** Whether the query is this application's, by its `live` node; takes it where it is free. A run
    * that is over only has to find it free. */
  private def register(run: PublishedRun): Boolean = {
    val path = tree.live(run.query.queryId)
    val data = Payloads.live(Live(appId, run.query.runId.toString))
    session.read(path) match {
      case None if !run.ended => session.create(path, data, CreateMode.EPHEMERAL)
      case Some(node) if mine(node) =>
        java.util.Arrays.equals(node.data, data) || session.set(path, data, node.version)
      case Some(node) if Payloads.readLive(node.data).appId == appId =>
        // Of a session of ours that is over: it would vanish by itself, later.
        session.delete(path, node.version)
        session.create(path, data, CreateMode.EPHEMERAL)
      case _ => ()
    }
    val owner = session.read(path)
    // A run that is over and still has news does not come back for it.
    val ours = owner.fold(run.ended)(mine)
    notice(
      run,
      "registration",
      Option.unless(ours)(
        s"not registered in ZooKeeper: ${owner.fold("no application")(n =>
            "application " +
              Payloads.readLive(n.data).appId
          )} runs this query too, perhaps from a copy of its " +
          "checkpoint; the query goes on with the tables it has"
      )
    )
    ours
  }

  private def mine(node: ZNode): Boolean = node.ephemeralOwner == session.id
}
