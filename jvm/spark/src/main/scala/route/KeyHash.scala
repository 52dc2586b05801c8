package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  BoundReference,
  CollationAwareMurmur3Hash,
  CollationAwareXxHash64,
  Expression,
  Literal,
  UnsafeProjection,
  UnsafeRow
}
import org.apache.spark.sql.types.DataType

import io.keyroute.core.table.GroupTable

/** The two numbers that route a key, as expressions over its columns. Exchange and state side both
  * take them from here, so that a row and the state of its key can never part.
  *
  * @param key
  *   the whole exchange key, in order
  * @param routingOrdinals
  *   which of its columns make the fingerprint; may be empty
  */
final case class KeyHash(key: Seq[Expression], routingOrdinals: Seq[Int]) {

  /** An int: what `HashPartitioning` takes modulo n, seed 42. */
  def hash: Expression = new CollationAwareMurmur3Hash(key)

  /** A long: Spark's XXH64, seed 42, of the routing columns; 0 where there are none, in which case
    * it must not be looked up. */
  def fingerprint: Expression =
    if (routingOrdinals.isEmpty) Literal(0L)
    else new CollationAwareXxHash64(routingColumns)

  /** The columns that the fingerprint is of. */
  def routingColumns: Seq[Expression] = routingOrdinals.map(key)
}

object KeyHash {

  /** Over rows that are the key itself: column i has type i. */
  def ofKeyRow(types: Seq[DataType], routingOrdinals: Seq[Int]): KeyHash =
    KeyHash(
      types.zipWithIndex.map { case (t, i) => BoundReference(i, t, nullable = true) },
      routingOrdinals
    )
}

/** Routes rows by tables of one group. Not thread-safe.
  *
  * @param keyHash
  *   bound to the rows' columns
  */
final class RowRouter(keyHash: KeyHash) {
  private val bySlotOnly = keyHash.routingOrdinals.isEmpty
  private val numbers = UnsafeProjection.create(Seq(keyHash.hash, keyHash.fingerprint))
  private var current: UnsafeRow = _

  /** Takes a row whose key [[partition]] is then asked for. */
  def take(row: InternalRow): Unit = current = numbers(row)

  def hash: Int = current.getInt(0)

  def fingerprint: Long = current.getLong(1)

  /** The partition, in [0, n), of the row taken last. */
  def partition(table: GroupTable): Int =
    if (bySlotOnly) table.routeBySlot(hash) else table.route(hash, fingerprint)
}
