package io.keyroute.core.routelog

import io.keyroute.core.table.GroupShape

/** What `<checkpoint>/keyroute/routes/<batch>` holds: all that decides where the batch's rows go, so
  * that the batch routes the same when it is run again.
  *
  * @param offsetsHash of `offsets/<batch>`: tells entries of another timeline
  * @param tableVersion 0 where the batch has no table; then `tableHash` is empty
  * @param groups routing groups of the query, ascending by id
  * @param bypassed operators that stay on Spark's hash, ascending
  * @param switch only where the batch switches tables: written after all handoff files, and the
  *               commit point of the switch */
final case class RouteEntry(
    queryId: String,
    batch: Long,
    offsetsHash: String,
    tableVersion: Long,
    tableHash: String,
    groups: Seq[GroupShape],
    bypassed: Seq[BypassedOperator],
    switch: Option[Switch]
) {

  /** Whether the batch routes by a table. */
  def hasTable: Boolean = tableVersion > 0

  /** The group of an operator, where it is routed. */
  def groupOf(operator: Long): Option[GroupShape] = groups.find(_.operators.contains(operator))

  /** Whether the operator's rows must be routed by a table in this batch. */
  def routes(operator: Long): Boolean = hasTable && groupOf(operator).isDefined
}

final case class BypassedOperator(operator: Long, reason: String)

/** The change of tables in the batch of the entry.
  *
  * @param fromVersion version of the batch before; 0 where it had no table
  * @param moved without what moves no row */
final case class Switch(fromVersion: Long, fromHash: String, moved: Seq[MovedRows]) {

  def rows: Long = moved.map(_.rows).sum
}

/** State rows of one store of one operator that go from one partition to another.
  *
  * @param store Spark's store name
  * @param checksum sum of the rows' 64-bit hashes modulo 2^64, the same in any order
  * @param file name below `<checkpoint>/keyroute/handoff/<batch>/` */
final case class MovedRows(
    operator: Long,
    store: String,
    source: Int,
    target: Int,
    rows: Long,
    checksum: Long,
    file: String
)

/** A route entry that cannot be used; the message says why and what to do. */
final class InvalidRouteEntry(message: String) extends IllegalArgumentException(message)
