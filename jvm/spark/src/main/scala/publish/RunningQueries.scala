package org.apache.spark.sql.keyroute.publish

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.keyroute.count.{ClusterEvents, StatisticsCollector}
import org.apache.spark.sql.keyroute.gateway.QueryBoard

import io.keyroute.core.table.RoutingTables

/** Tells board, statistics and ZooKeeper of what happens to the queries. Nothing here waits but
  * a query's start, shortly: the publisher has a thread of its own.
  *
  * @param publisher
  *   none where there is no ZooKeeper: tables never arrive
  */
final class RunningQueries(
    board: QueryBoard,
    collector: StatisticsCollector,
    publisher: Option[Publisher]
) extends Reconfigurations with ClusterEvents {
  // The tables that a run was last told to switch to, for board and statistics.
  private val askedTables = new ConcurrentHashMap[UUID, RoutingTables]()

  override def started(query: RunningQuery): Unit = {
    collector.started(query)
    board.started(query)
    publisher.foreach(_.started(query))
  }

  override def asked(runId: UUID): Option[RoutingTables] = {
    val tables = publisher.flatMap(_.asked(runId))
    tables.foreach(askedTables.put(runId, _))
    tables
  }

  override def postponed(runId: UUID, reason: String): Unit = board.waiting(runId, reason)

  override def refused(runId: UUID, version: Long, reason: String): Unit = {
    board.waiting(runId, s"version $version is refused: $reason")
    publisher.foreach(_.refused(runId, version, reason))
  }

  override def migrating(runId: UUID, figures: SwitchFigures): Unit = {
    val asked = Option(askedTables.get(runId)).filter(_.version == figures.toVersion)
    collector.switched(runId, figures.batch, figures.toVersion, asked)
    board.switched(runId, figures, asked.fold(figures.toHash)(_.hash))
    publisher.foreach(_.migrating(runId, figures))
  }

  override def batchEnded(runId: UUID, batch: Long, inputRows: Long, durationMs: Long): Unit = {
    collector.batchEnded(runId, batch, inputRows, durationMs)
    publisher.foreach(_.batchEnded(runId, batch))
  }

  override def queryEnded(runId: UUID): Unit = {
    askedTables.remove(runId)
    collector.ended(runId)
    board.ended(runId)
    publisher.foreach(_.ended(runId))
  }
}
