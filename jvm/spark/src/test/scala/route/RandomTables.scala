package org.apache.spark.sql.keyroute.route

import java.util.UUID
import java.util.concurrent.ConcurrentHashMap

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import io.keyroute.core.table.{GroupShape, GroupTable, RoutingTables}

/** Decides by the session's `keyroute.test.tables`: `random` gives each query a random table from its
  * first batch on (so that no state has to move), `empty` one that routes as Spark does, anything
  * else leaves the query to Spark. As the route log does, it keeps the groups of a query's first
  * batch; it outlives restarts of a query, since it goes by the query's id. */
object RandomTables extends BatchDecider {
  val Setting = "keyroute.test.tables"

  /** A number; queries with different ones get different tables. */
  val Seed = "keyroute.test.seed"

  /** Spark's name of an operator whose groups stay with Spark. */
  val Leave = "keyroute.test.leave"

  private val tables = new ConcurrentHashMap[UUID, RoutingTables]()

  /** What was decided, newest last. */
  val decided = new java.util.concurrent.ConcurrentLinkedQueue[PlannedBatch]()

  override def decide(batch: PlannedBatch): BatchDecision = {
    decided.add(batch)
    val mode = batch.session.conf.get(Setting, "none")
    val routable =
      if (!Set("random", "empty").contains(mode)) Nil
      else batch.groups.filter(g => g.unroutable.isEmpty && !isLeft(batch, g))
    val inForce = tables.computeIfAbsent(batch.queryId, _ => make(batch, routable, mode))
    val groupOf = inForce.groups.flatMap(t => t.shape.operators.map(_ -> t.shape.group)).toMap
    BatchDecision(
      BatchRoute(
        batch.queryId,
        batch.runId,
        batch.batch,
        groupOf,
        batch.session.sparkContext.broadcast(inForce),
        inForce.version,
        None
      ),
      batch.groups.flatMap(g => g.unroutable.toSeq.flatMap(r => g.operators.map(_ -> r))).toMap
    )
  }

  private def isLeft(batch: PlannedBatch, group: PlannedGroup): Boolean = {
    val name = batch.session.conf.get(Leave, "")
    batch.operators.exists(o => group.operators.contains(o.id) && o.name == name)
  }

  private def make(batch: PlannedBatch, groups: Seq[PlannedGroup], mode: String): RoutingTables = {
    val all = shapes(groups)
    val seed = batch.session.conf.get(Seed, "0").toLong
    if (mode == "random") RoutingTables(1L, batch.queryId.toString, all.map(random(_, seed)), Nil)
    else RoutingTables.empty(batch.queryId.toString, all)
  }

  def shapes(groups: Seq[PlannedGroup]): Seq[GroupShape] = groups.map { g =>
    GroupShape(
      g.id,
      g.operators,
      g.partitions,
      GroupShape.defaultSlots(g.partitions),
      g.routingOrdinals,
      g.keyNames,
      g.keyTypes,
      g.stableSlots
    )
  }

  /** Another table for each group: random owners of slots where they may differ, and entries for the
    * keys of events where the routing columns tell them. */
  def random(shape: GroupShape, seed: Long = 0): GroupTable = {
    val random = new Random(shape.group + 1 + 1000 * seed)
    val types = shape.routingOrdinals.map(i => DataType.fromDDL(shape.keyTypes(i)))
    val fingerprint =
      UnsafeProjection.create(Seq(KeyHash.ofKeyRow(types, types.indices).fingerprint))
    val fingerprints = keys(types).map(fingerprint(_).getLong(0)).sorted.toArray
    val owners =
      if (shape.stableSlots) Array.fill(shape.slots)(random.nextInt(shape.partitions))
      else Array.empty[Int]
    GroupTable.build(
      shape,
      fingerprints,
      fingerprints.map(_ => random.nextInt(shape.partitions)),
      owners
    )
  }

  /** Of the events k0 to k1999, where the routing columns are their key, or key and time. */
  private def keys(types: Seq[DataType]): Seq[InternalRow] = (0 until 2000).flatMap { i =>
    val key = UTF8String.fromString(s"k$i")
    types match {
      case Seq(StringType) => Some(InternalRow(key))
      case Seq(StringType, TimestampType) => Some(InternalRow(key, i * 7000000L))
      case _ => None
    }
  }
}
