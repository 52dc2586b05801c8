package org.apache.spark.sql.keyroute.route

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo

/** A stateful operator of a batch's plan that has a clustered distribution to route.
  *
  * @param name
  *   Spark's name of the operator, as its state metadata has it (`stateStoreSave`, `dedupe`, …)
  * @param stores
  *   names of its state stores
  * @param stateFormatVersion
  *   where the operator has one (aggregation, join)
  */
final case class PlannedOperator(
    info: StatefulOperatorStateInfo,
    name: String,
    stores: Seq[String],
    stateFormatVersion: Option[Int]
) {
  def id: Long = info.operatorId
}

/** A routing group as one batch's plan shows it; the groups that count are those of the route log,
  * written when the query is first seen.
  *
  * @param keyNames
  *   of the exchange key's columns, in order; with keyTypes (Spark DDL)
  * @param routingOrdinals
  *   the exchange key's columns that are no window, session or event-time column
  * @param stableSlots
  *   whether the routing columns are the whole exchange key
  * @param unroutable
  *   why the group must stay on Spark's hash, if it must
  */
final case class PlannedGroup(
    operators: Seq[Long],
    partitions: Int,
    keyNames: Seq[String],
    keyTypes: Seq[String],
    routingOrdinals: Seq[Int],
    stableSlots: Boolean,
    unroutable: Option[String]
) {
  def id: Long = operators.min
}

/** What the rule knows of the micro-batch it plans, before it decides anything. */
final case class PlannedBatch(
    session: SparkSession,
    queryId: UUID,
    runId: UUID,
    name: String,
    batch: Long,
    checkpoint: Path,
    operators: Seq[PlannedOperator],
    groups: Seq[PlannedGroup]
)
