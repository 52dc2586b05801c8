package org.apache.spark.sql.keyroute.publish

import java.util.UUID
import java.util.concurrent.TimeUnit.{MILLISECONDS, NANOSECONDS}
import java.util.concurrent.{ArrayBlockingQueue, ConcurrentHashMap}

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import org.apache.zookeeper.CreateMode

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.gateway.QueryBoard

import io.keyroute.core.reconfiguration.Target
import io.keyroute.core.table.RoutingTables

/** How long the publisher waits between looks that nothing asked for; `firstLookMs` is how long a
  * query's start waits at most for the first look at what is wanted of it. */
final case class Pace(
    pollMs: Long = 5000,
    retryMs: Long = 1000,
    warnAfterMs: Long = 5000,
    firstLookMs: Long = 3000
)

/** The driver's side of `docs/protocol.md`. One thread of its own reads and writes ZooKeeper,
  * whenever a watched node changed, the connection came back or a query had news; the streams'
  * threads only leave their news and read what is asked of them, and wait for the first look when a
  * query starts. Without ZooKeeper queries go on,
  * and all is made good when it is back.
  *
  * @param store
  *   puts tables into a query's checkpoint
  */
final class ZooKeeperPublisher(
    connect: String,
    root: String,
    authFile: String,
    board: QueryBoard,
    store: (RunningQuery, RoutingTables) => Unit,
    nowMs: () => Long,
    pace: Pace = Pace()
) extends Publisher with Logging {
  private val tree = ZooKeeperTree.at(root)
  private val runs = new ConcurrentHashMap[UUID, PublishedRun]()
  // Holds one reminder at most: a pass looks at everything.
  private val news = new ArrayBlockingQueue[Unit](1)
  private val session = new ZooKeeperSession(connect, authFile, () => remind())
  @volatile private var closed = false
  private var thread = Option.empty[Thread]
  private var everConnected = false
  private var warned = false

  override def open(application: Application): Unit = {
    val reconciler = new QueryReconciler(
      session,
      tree,
      application.appId,
      store,
      (run, topic, text) => board.notice(run.query.runId, topic, text),
      nowMs
    )
    session.open()
    val loop = new Thread(() => work(application, reconciler), "keyroute-zookeeper")
    loop.setDaemon(true)
    thread = Some(loop)
    loop.start()
  }

  override def started(query: RunningQuery): Unit = {
    // The checkpoint says all that an earlier run of the query still had to tell.
    runs.values.removeIf(_.query.queryId == query.queryId)
    val run = new PublishedRun(query)
    runs.put(query.runId, run)
    remind()
    // A run of a single batch would never switch, were that batch planned before the first look.
    if (session.connected) {
      run.looked.await(pace.firstLookMs, MILLISECONDS)
      ()
    }
  }

  override def asked(runId: UUID): Option[RoutingTables] =
    Option(runs.get(runId)).flatMap { run =>
      val tables = run.asked.get
      if (tables.isDefined) run.handed.set(tables)
      tables
    }

  /** Nothing for ZooKeeper: the status says it. */
  override def postponed(runId: UUID, reason: String): Unit = ()

  override def refused(runId: UUID, version: Long, reason: String): Unit = tell(runId) { run =>
    // The tables that were refused; others may be asked for by now.
    run.handed.get.filter(_.version == version).foreach { refused =>
      val target = Target(version, refused.hash)
      run.asked.updateAndGet(_.filterNot(t => Target(t.version, t.hash) == target))
      run.refusal.set(Some(target -> reason))
    }
  }

  override def migrating(runId: UUID, figures: SwitchFigures): Unit = tell(runId) { run =>
    val handed = run.handed.get.filter(_.version == figures.toVersion).map(_.hash)
    val target = Target(figures.toVersion, handed.getOrElse(figures.toHash))
    run.planned.set(Some(target -> figures.batch))
    run.asked.set(None)
  }

  override def batchEnded(runId: UUID, batch: Long): Unit = Option(runs.get(runId)).foreach { run =>
    run.committed.accumulateAndGet(batch, (a: Long, b: Long) => math.max(a, b))
    remind()
  }

  override def ended(runId: UUID): Unit = tell(runId)(_.ended = true)

  override def close(): Unit = {
    closed = true
    remind()
    thread.foreach(_.join(ZooKeeperPublisher.CloseMs))
    session.close()
  }

  private def tell(runId: UUID)(f: PublishedRun => Unit): Unit =
    Option(runs.get(runId)).foreach { run =>
      f(run)
      remind()
    }

  private def remind(): Unit = {
    news.offer(())
    ()
  }

  private def work(application: Application, reconciler: QueryReconciler): Unit = {
    val start = System.nanoTime()
    while (!closed) {
      val fine =
        try pass(application, reconciler)
        catch {
          case _: InterruptedException =>
            closed = true
            true
          case NonFatal(e) =>
            if (!closed) logWarning("a look at ZooKeeper failed and is made again", e)
            false
          // Nobody else would go on in this thread's place.
          case e: Throwable =>
            if (!closed) logError("a look at ZooKeeper failed and is made again", e)
            false
        }
      val waited = NANOSECONDS.toMillis(System.nanoTime() - start)
      if (!everConnected && waited >= pace.warnAfterMs) warnUnreachable()
      news.poll(if (fine) pace.pollMs else pace.retryMs, MILLISECONDS)
    }
  }

  /** Whether all was looked at. */
  private def pass(application: Application, reconciler: QueryReconciler): Boolean = {
    val connected = session.connected
    if (connected && !everConnected) logInfo(s"connected to ZooKeeper at $connect")
    everConnected ||= connected
    board.zookeeper(connected)
    if (connected) registerApplication(application)
    val fine = runs.values.asScala.toSeq.map { run =>
      // Looked at first: what the run told before its end is taken in by this pass.
      val ended = run.ended
      val done = each(run, ended, connected, reconciler)
      if (ended && (done || runs.size > ZooKeeperPublisher.MostRuns)) runs.remove(run.query.runId)
      done
    }
    connected && fine.forall(identity)
  }

  // What is wrong with one query must not hold up the others. Says whether all was done.
  private def each(
      run: PublishedRun,
      ended: Boolean,
      connected: Boolean,
      reconciler: QueryReconciler
  ): Boolean =
    try {
      if (!connected) reconciler.absorb(run)
      else
        try reconciler.reconcile(run)
        finally if (ended) reconciler.unregister(run)
      problem(run, None)
      connected
    } catch {
      case e: InterruptedException => throw e
      case e: Throwable =>
        problem(run, Some(e))
        false
    } finally run.looked.countDown()

  private def problem(run: PublishedRun, failure: Option[Throwable]): Unit = {
    val text = failure.map(e => s"ZooKeeper or the checkpoint could not be read or written: $e")
    if (run.problem != text) {
      run.problem = text
      board.notice(run.query.runId, "zookeeper", text)
      if (!closed) failure.foreach {
        case NonFatal(_) => logWarning(s"query ${run.query.queryId}: ${text.mkString}")
        case fatal => logError(s"query ${run.query.queryId}: ${text.mkString}", fatal)
      }
    }
  }

  private def registerApplication(application: Application): Unit = {
    val path = tree.app(application.appId)
    session.read(path) match {
      case Some(node) if node.ephemeralOwner == session.id => ()
      case other =>
        // Of a session of ours that is over.
        other.foreach(node => session.delete(path, node.version))
        session.create(path, Payloads.application(application), CreateMode.EPHEMERAL)
        ()
    }
  }

  private def warnUnreachable(): Unit = if (!warned) {
    warned = true
    logWarning(s"ZooKeeper at $connect does not answer: queries run without new tables, and it " +
      "is tried again in the background. Is spark.keyroute.zookeeper.connect right?")
  }
}

object ZooKeeperPublisher {
  private val CloseMs = 5000L
  // Ended queries that wait for ZooKeeper to be told so.
  private val MostRuns = 256
}
