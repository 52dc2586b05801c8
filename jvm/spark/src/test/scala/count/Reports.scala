package org.apache.spark.sql.keyroute.count

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.sketch.{LongSpaceSaving, PairSpaceSaving}
import io.keyroute.core.table.{GroupShape, RoutingTables}
import io.keyroute.proto.v1.{MapTaskCounts, ReduceTaskReads}

/** A query of two groups of three partitions, and what its tasks report. */
object Reports {
  val partitions: Int = 3
  val groups: Seq[GroupShape] = Seq(shape(0), shape(1))

  def shape(group: Long): GroupShape =
    GroupShape(
      group,
      Seq(group),
      partitions,
      GroupShape.defaultSlots(partitions),
      Seq(0),
      Seq("k"),
      Seq("STRING"),
      stableSlots = true
    )

  def query(
      queryId: UUID = UUID.randomUUID(),
      runId: UUID = UUID.randomUUID(),
      version: Long = 0,
      since: Long = 0,
      checkpoint: Path = new Path("file:/none")
  ): RunningQuery = {
    val tables =
      if (version == 0) RoutingTables.empty(queryId.toString, groups)
      else RoutingTables(version, queryId.toString, Nil, Nil)
    RunningQuery(
      queryId,
      runId,
      "flights",
      checkpoint,
      new Configuration(false),
      groups,
      Nil,
      tables,
      since,
      None
    )
  }

  /** A map task of the exchange into group 0, whose rows come from group 1. */
  def wrote(
      query: RunningQuery,
      batch: Long,
      map: Int,
      executor: String,
      rows: Seq[Long],
      group: Long = 0,
      upstream: Long = 1
  ): MapTaskCounts = {
    val keys = new LongSpaceSaving(8)
    val pairs = new PairSpaceSaving(8)
    rows.zipWithIndex.filter(_._1 > 0).foreach { case (n, p) =>
      keys.offer(p.toLong, n)
      pairs.offer(10L + p, p.toLong, n)
    }
    val builder = MapTaskCounts.newBuilder().setRunId(query.runId.toString).setBatch(batch)
      .setGroup(group).setExchange(0).setMapPartition(map).setExecutor(executor)
      .addAllPartitionRows(rows.map(Long.box).asJava).setExplicitRows(rows.sum / 2)
      .addSlots(map).addSlotRows(rows.sum).setKeys(keys.toProto).setUpstreamGroup(upstream)
    if (upstream >= 0) builder.setPairs(pairs.toProto).setUpstreamKey("attribute")
    builder.build()
  }

  def read(query: RunningQuery, batch: Long, partition: Int, executor: String): ReduceTaskReads =
    ReduceTaskReads.newBuilder().setRunId(query.runId.toString).setBatch(batch).setGroup(0)
      .setExchange(0).setPartition(partition).setExecutor(executor).build()
}
