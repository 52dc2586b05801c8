package org.apache.spark.sql.keyroute.handoff

import java.util.UUID
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.{Reconfigurations, RunningQuery, SwitchFigures}

import io.keyroute.core.table.RoutingTables

/** Reconfigurations by hand: a test says what is wanted, for all queries that run. */
object TestDesk extends Reconfigurations {
  @volatile private var wanted: Option[RunningQuery => RoutingTables] = None
  private val wantedOf = new ConcurrentHashMap[UUID, RunningQuery => RoutingTables]()
  private val queries = new ConcurrentHashMap[UUID, RunningQuery]()
  private val figures = new ConcurrentLinkedQueue[(UUID, SwitchFigures)]()
  private val reasons = new ConcurrentLinkedQueue[String]()
  private val refusals = new ConcurrentLinkedQueue[String]()

  def reset(): Unit = {
    wantNothing()
    queries.clear()
    figures.clear()
    reasons.clear()
    refusals.clear()
  }

  /** From the next planning on. */
  def want(tables: RunningQuery => RoutingTables): Unit = wanted = Some(tables)

  /** Of one query, by its id. */
  def wantOf(query: UUID)(tables: RunningQuery => RoutingTables): Unit =
    wantedOf.put(query, tables): Unit

  /** The same from Python: [[TestTables.random]]. */
  def wantRandom(version: Long, keys: java.util.List[String]): Unit =
    want(TestTables.random(version, keys.asScala.toSeq))

  def wantNothing(): Unit = {
    wanted = None
    wantedOf.clear()
  }

  def switches: Seq[SwitchFigures] = figures.asScala.toSeq.map(_._2)
  def switchesOf(query: UUID): Seq[SwitchFigures] =
    figures.asScala.toSeq.collect { case (`query`, f) => f }
  def postponements: Seq[String] = reasons.asScala.toSeq
  def refused: Seq[String] = refusals.asScala.toSeq
  def started: Seq[RunningQuery] = queries.values.asScala.toSeq

  override def started(query: RunningQuery): Unit = queries.put(query.runId, query): Unit
  override def asked(runId: UUID): Option[RoutingTables] = for {
    query <- Option(queries.get(runId))
    tables <- Option(wantedOf.get(query.queryId)).orElse(wanted)
  } yield tables(query)
  override def postponed(runId: UUID, reason: String): Unit = reasons.add(reason): Unit
  override def refused(runId: UUID, version: Long, reason: String): Unit =
    refusals.add(reason): Unit
  override def migrating(runId: UUID, figures: SwitchFigures): Unit =
    this.figures.add(queries.get(runId).queryId -> figures): Unit
}
