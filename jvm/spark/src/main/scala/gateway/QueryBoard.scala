package org.apache.spark.sql.keyroute.gateway

import java.util.UUID

import scala.collection.immutable.VectorMap
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.{RunningQuery, SwitchFigures}

import io.keyroute.proto.v1.{
  ApplicationStatus,
  BatchStatus,
  OperatorStatus,
  QueryStatus,
  SwitchStatus
}

/** What the driver tells of one query.
  *
  * @param waiting
  *   why the wanted tables are not switched to yet; empty where nothing waits
  * @param notices
  *   what people should know besides, as why the query is not registered in ZooKeeper, by topic
  */
final case class BoardEntry(
    query: RunningQuery,
    version: Long,
    hash: String,
    since: Long,
    switches: Vector[SwitchStatus],
    waiting: String,
    notices: Map[String, String],
    ended: Boolean
)

/** The status of an application's queries, as `keyroute status` shows it. Keeps the last run of
  * each query, and of queries that ended the newest ones only. */
final class QueryBoard(appId: String, keyrouteVersion: String, sparkVersion: String) {
  private var entries = VectorMap.empty[UUID, BoardEntry]
  @volatile private var zookeeperConnected = false

  def started(query: RunningQuery): Unit = synchronized {
    val earlier = entries.get(query.queryId).fold(Vector.empty[SwitchStatus])(_.switches)
    val entry = BoardEntry(
      query,
      query.inForce.version,
      if (query.inForce.version == 0) "" else query.inForce.hash,
      query.sinceBatch,
      earlier,
      "",
      Map.empty,
      ended = false
    )
    entries = entries.removed(query.queryId).updated(query.queryId, entry)
    entries.collect { case (id, e) if e.ended => id }.toSeq.dropRight(QueryBoard.MostEnded)
      .foreach(id => entries = entries.removed(id))
  }

  def ended(runId: UUID): Unit = change(runId)(_.copy(ended = true, waiting = ""))

  def waiting(runId: UUID, reason: String): Unit = change(runId)(_.copy(waiting = reason))

  def notice(runId: UUID, topic: String, text: Option[String]): Unit =
    change(runId)(e => e.copy(notices = e.notices.removed(topic) ++ text.map(topic -> _)))

  def switched(runId: UUID, figures: SwitchFigures, hash: String): Unit = change(runId) { e =>
    val status = SwitchStatus.newBuilder().setBatch(figures.batch)
      .setFromVersion(figures.fromVersion).setToVersion(figures.toVersion)
      .setRowsMoved(figures.rowsMoved).setRowsSeen(figures.rowsSeen)
      .setHandoffMs(figures.handoffMs).setPulled(figures.pulled).build()
    e.copy(
      version = figures.toVersion,
      hash = hash,
      since = figures.batch,
      waiting = "",
      switches = (e.switches :+ status).takeRight(QueryBoard.MostSwitches)
    )
  }

  /** A partition's apply of the rows handed to it took so long; the longest is kept. */
  def applied(runId: UUID, batch: Long, applyMs: Long): Unit = change(runId) { e =>
    e.copy(switches = e.switches.map { s =>
      if (s.getBatch == batch && s.getApplyMs < applyMs) s.toBuilder.setApplyMs(applyMs).build()
      else s
    })
  }

  /** Queries that run. */
  def running: Long = synchronized(entries.values.count(!_.ended).toLong)

  /** Switches of tables that are remembered. */
  def switches: Long = synchronized(entries.values.map(_.switches.size.toLong).sum)

  def zookeeper(connected: Boolean): Unit = zookeeperConnected = connected

  /** @param batches
    *   the newest batches of a run, oldest first
    */
  def status(batches: UUID => Seq[BatchStatus]): ApplicationStatus = {
    val now = synchronized(entries)
    ApplicationStatus.newBuilder().setFormat(1).setAppId(appId)
      .setKeyrouteVersion(keyrouteVersion).setSparkVersion(sparkVersion)
      .setZookeeperConnected(zookeeperConnected)
      .addAllQueries(now.values.map(e => statusOf(e, batches(e.query.runId))).asJava)
      .build()
  }

  private def statusOf(e: BoardEntry, batches: Seq[BatchStatus]): QueryStatus =
    QueryStatus.newBuilder().setFormat(1)
      .setQueryId(e.query.queryId.toString).setRunId(e.query.runId.toString)
      .setName(Option(e.query.name).getOrElse(""))
      .setTableVersion(e.version).setTableHash(e.hash).setTableSinceBatch(e.since)
      .addAllGroups(e.query.groups.map(_.toProto).asJava)
      .addAllOperators(QueryBoard.operators(e.query).asJava)
      .addAllBatches(batches.asJava).addAllSwitches(e.switches.asJava)
      .setWaiting((e.waiting +: e.notices.values.toSeq).filter(_.nonEmpty).mkString("; "))
      .setBypass(e.query.bypass.getOrElse(""))
      .build()

  private def change(runId: UUID)(f: BoardEntry => BoardEntry): Unit = synchronized {
    entries.values.find(_.query.runId == runId).foreach { entry =>
      entries = entries.updated(entry.query.queryId, f(entry))
    }
  }
}

object QueryBoard {
  val MostEnded: Int = 32
  val MostSwitches: Int = 64

  /** The operators of a query for status and ZooKeeper. */
  def operators(query: RunningQuery): Seq[OperatorStatus] = query.operators.map { o =>
    OperatorStatus.newBuilder().setOperator(o.id).setName(o.name).setGroup(o.group)
      .setRouted(o.reason.isEmpty).setReason(o.reason.getOrElse("")).build()
  }
}
