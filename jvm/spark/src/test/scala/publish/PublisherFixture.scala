package org.apache.spark.sql.keyroute.publish

import java.nio.file.{Files, Path => LocalPath}
import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.Path
import org.apache.zookeeper.{CreateMode, KeeperException}
import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Millis, Seconds, Span}

import org.apache.spark.sql.keyroute.count.Reports
import org.apache.spark.sql.keyroute.gateway.QueryBoard

import io.keyroute.core.table.{ContentHash, GroupShape, RoutingTables, TableCodec}
import io.keyroute.proto.v1.{Phase, QueryStatus, Reconfiguration}

/** A driver without Spark: publisher and board, with the stream's side played by the test. */
final class DriverPlayer(connect: String, appId: String, authFile: String = "")
    extends AutoCloseable {
  val stored: ConcurrentHashMap[Long, RoutingTables] = new ConcurrentHashMap()

  /** Called when tables are put into the checkpoint. */
  @volatile var inStore: () => Unit = () => ()
  val board: QueryBoard = new QueryBoard(appId, "test", "4.3.0")
  val publisher: ZooKeeperPublisher = new ZooKeeperPublisher(
    connect,
    "/keyroute",
    authFile,
    board,
    (_, tables) => {
      inStore()
      stored.put(tables.version, tables)
      ()
    },
    () => 42L,
    Pace(pollMs = 500, retryMs = 50)
  )

  publisher.open(Application(appId, Some("127.0.0.1" -> 4711), "test", "4.3.0", 1))

  def start(query: RunningQuery): Unit = {
    board.started(query)
    publisher.started(query)
  }

  def switchTo(query: RunningQuery, version: Long, batch: Long): Unit =
    publisher.migrating(
      query.runId,
      SwitchFigures(batch, version - 1, version, 5, 50, 7, pulled = false)
    )

  def status(query: RunningQuery): QueryStatus =
    board.status(_ => Nil).getQueriesList.asScala.find(_.getRunId == query.runId.toString).get

  override def close(): Unit = publisher.close()
}

/** A controller, played by the test: writes what `docs/protocol.md` has it write. */
final class ControllerPlayer(connect: String, authFile: String = "") extends AutoCloseable {
  val tree: ZooKeeperTree = ZooKeeperTree.at("/keyroute")
  val session: ZooKeeperSession = new ZooKeeperSession(connect, authFile, () => ())
  session.open()

  /** Publishes tables, and asks for them. */
  def publish(tables: RoutingTables, hash: Option[String] = None): TableRef = {
    val bytes = TableCodec.encode(tables)
    val ref = TableRef(tables.version, hash.getOrElse(tables.hash))
    val id = UUID.fromString(tables.queryId)
    publishBytes(id, ref, bytes)
    phase(id, Phase.PUBLISH, ref)
    want(id, ref)
    ref
  }

  def publishBytes(id: UUID, ref: TableRef, bytes: Array[Byte]): Unit = {
    val chunks = bytes.grouped(1000).toSeq
    chunks.zipWithIndex.foreach { case (c, i) => session.create(tree.chunk(id, ref.version, i), c) }
    session.create(
      tree.tableMeta(id, ref.version),
      Payloads.tableMeta(TableMeta(ref.version, ref.hash, bytes.length.toLong, chunks.size))
    )
    ()
  }

  def want(id: UUID, ref: TableRef): Unit = put(tree.wanted(id), Payloads.wanted(ref))

  def phase(id: UUID, phase: Phase, ref: TableRef, reason: String = "", batch: Long = 0): Unit =
    put(
      tree.reconfiguration(id),
      Payloads.reconfiguration(Reconfiguration.newBuilder().setFormat(1)
        .setPhase(phase).setVersion(ref.version).setHash(ref.hash).setBy("controller")
        .setReason(reason).setBatch(batch).setPredictedLocality(0.75).build())
    )

  def reconfiguration(id: UUID): Option[Reconfiguration] =
    session.read(tree.reconfiguration(id)).map(n => Payloads.readReconfiguration(n.data))

  def inForce(id: UUID): Option[PublishedInForce] =
    session.read(tree.inForce(id)).map(n => Payloads.readInForce(n.data))

  def live(id: UUID): Option[Live] = session.read(tree.live(id)).map(n => Payloads.readLive(n.data))

  override def close(): Unit = session.close()

  def put(path: String, data: Array[Byte]): Unit = {
    val done = session.read(path).fold(session.create(path, data, CreateMode.PERSISTENT))(n =>
      session.set(path, data, n.version)
    )
    if (!done) throw new KeeperException.BadVersionException(path)
  }
}

object PublisherFixture extends Eventually {
  override implicit val patienceConfig: PatienceConfig =
    PatienceConfig(Span(30, Seconds), Span(20, Millis))

  def checkpoint(): Path = new Path(Files.createTempDirectory("keyroute-checkpoint").toUri)

  /** Spark's commit log holds the batch. */
  def commit(query: RunningQuery, batch: Long): Unit = {
    val commits = LocalPath.of(query.checkpoint.toUri.getPath, "commits")
    Files.createDirectories(commits)
    Files.writeString(commits.resolve(batch.toString), "v1\n{}")
    ()
  }

  def query(version: Long = 0, since: Long = 0): RunningQuery =
    Reports.query(version = version, since = since, checkpoint = checkpoint())

  /** The query's next run. */
  def again(query: RunningQuery, inForce: Option[(RoutingTables, Long)] = None): RunningQuery = {
    val next = query.copy(runId = UUID.randomUUID())
    inForce.fold(next) { case (tables, since) => next.copy(inForce = tables, sinceBatch = since) }
  }

  def tables(query: RunningQuery, version: Long): RoutingTables =
    RoutingTables(version, query.queryId.toString, Nil, Seq(0, 1, 2))

  /** Tables for groups of other shapes than the query's. */
  def misfit(query: RunningQuery, version: Long, shape: GroupShape): RoutingTables =
    RoutingTables(
      version,
      query.queryId.toString,
      Seq(io.keyroute.core.table.GroupTable.empty(shape)),
      Nil
    )

  def hashOf(bytes: Array[Byte]): String = ContentHash.sha256(bytes)
}
