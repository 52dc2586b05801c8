package org.apache.spark.sql.keyroute.handoff

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{CollationAwareXxHash64, Literal}
import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.{GroupShape, GroupTable, RoutingTables}

/** Tables that move about three quarters of the keys. */
object TestTables {

  /** Owners of slots where slots may move, entries for `keys` in any case. */
  def random(version: Long, keys: Seq[String] = Nil)(query: RunningQuery): RoutingTables =
    ofFingerprints(version, keys.map(fingerprint))(query)

  /** As [[random]], with entries for keys of any type. */
  def ofFingerprints(version: Long, keys: Seq[Long])(query: RunningQuery): RoutingTables =
    RoutingTables(version, query.queryId.toString, query.groups.map(table(_, keys, version)), Nil)

  /** Back to Spark's hash. */
  def empty(version: Long)(query: RunningQuery): RoutingTables =
    RoutingTables(version, query.queryId.toString, query.groups.map(GroupTable.empty), Nil)

  /** All keys to one partition. */
  def gathered(version: Long, keys: Seq[String])(query: RunningQuery): RoutingTables = {
    val groups = query.groups.map { shape =>
      val entries = keys.map(fingerprint).sorted.toArray
      GroupTable.build(shape, entries, entries.map(_ => 0), Array.empty[Int])
    }
    RoutingTables(version, query.queryId.toString, groups, Nil)
  }

  private def table(shape: GroupShape, keys: Seq[Long], seed: Long): GroupTable = {
    val random = new Random(seed)
    val entries = keys.map(_ -> random.nextInt(shape.partitions)).sortBy(_._1)
    val owners =
      if (shape.stableSlots) Array.fill(shape.slots)(random.nextInt(shape.partitions))
      else Array.empty[Int]
    GroupTable.build(shape, entries.map(_._1).toArray, entries.map(_._2).toArray, owners)
  }

  /** Of a key that is one string. */
  def fingerprint(key: String): Long =
    new CollationAwareXxHash64(Seq(Literal(key))).eval().asInstanceOf[Long]
}
