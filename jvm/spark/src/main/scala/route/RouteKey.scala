package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.keyroute.count.{KeyLabels, UpstreamNotes}

import io.keyroute.core.table.GroupTable

/** The partition of each row of one exchange. Not thread-safe: one a task. */
trait RouteKey {

  /** In [0, n). */
  def partition(row: InternalRow): Int
}

/** Is told of each routed row. */
trait RouteObserver {

  /** Whether it wants the hash of the upstream key, too; asked once. */
  def wantsUpstreamHash: Boolean

  /** Whether it wants to know the next row's keys; asked before each row. */
  def wantsKeys: Boolean

  /** A row whose keys are not wanted.
    * @param byEntry
    *   whether the key has an entry of its own in the table
    */
  def routed(hash: Int, partition: Int, byEntry: Boolean): Unit

  /** A row whose keys are wanted.
    * @param fingerprint
    *   of the routing columns; 0 where the group has none
    * @param byEntry
    *   the same
    * @param fromKnown
    *   whether the key that routed the row to the upstream operator is known
    * @param upstream
    *   fingerprint of that key; 0 where it is not known
    * @param upstreamHash
    *   of that key; 0 where it is not wanted
    */
  def routed(
      hash: Int,
      fingerprint: Long,
      partition: Int,
      byEntry: Boolean,
      fromKnown: Boolean,
      upstream: Long,
      upstreamHash: Int
  ): Unit
}

object RouteKey {

  /** Spark's own routing, by Spark's own expression. */
  def bySpark(hash: HashPartitioning, input: Seq[Attribute]): RouteKey = new RouteKey {
    private val id = UnsafeProjection.create(Seq(hash.partitionIdExpression), input)
    override def partition(row: InternalRow): Int = id(row).getInt(0)
  }

  /** Routing by a table, each row observed: hashes and fingerprints of its key and of the upstream
    * key come out of one projection, which has only what the observer wants of the row.
    *
    * @param upstream
    *   over the rows
    * @param notes
    *   where the rows do not have the upstream key
    * @param labels
    *   where texts of keys are wanted
    * @param input
    *   columns of the rows
    */
  def byTable(
      key: KeyHash,
      upstream: Option[KeyHash],
      input: Seq[Attribute],
      table: GroupTable,
      observer: RouteObserver,
      notes: Option[UpstreamNotes] = None,
      labels: Option[KeyLabels] = None
  ): RouteKey = new RouteKey {
    private val hasFingerprint = key.routingOrdinals.nonEmpty
    private val hasUpstream = upstream.isDefined
    private val hasUpstreamHash = hasUpstream && observer.wantsUpstreamHash
    private val noted = notes.orNull
    private val labelled = labels.orNull
    private val looksUp = hasFingerprint && table.explicit.size > 0
    private val needsFingerprint = looksUp || labels.isDefined
    // To make one takes a millisecond, and many a task needs only one of the two.
    private lazy val needed =
      if (needsFingerprint && !hasUpstream && noted == null) numbers
      else
        UnsafeProjection.create(
          key.hash +: Option.when(needsFingerprint)(key.fingerprint).toSeq,
          input
        )
    private lazy val numbers = UnsafeProjection.create(
      Seq(key.hash, key.fingerprint) ++ (
        if (notes.isDefined) Seq(KeyHash(key.key, key.key.indices).fingerprint)
        else upstream.map(_.fingerprint) ++ upstream.filter(_ => hasUpstreamHash).map(_.hash)
      ),
      input
    )

    override def partition(row: InternalRow): Int =
      if (observer.wantsKeys) partitionAndKeys(row)
      else {
        val all = needed(row)
        val hash = all.getInt(0)
        val fingerprint = if (needsFingerprint) all.getLong(1) else 0L
        val entry = entryOf(fingerprint)
        val target = if (entry >= 0) entry else table.routeBySlot(hash)
        if (labelled != null) labelled.see(fingerprint, row)
        observer.routed(hash, target, entry >= 0)
        target
      }

    private def entryOf(fingerprint: Long): Int =
      if (looksUp) table.explicit.lookup(fingerprint) else -1

    private def partitionAndKeys(row: InternalRow): Int = {
      val all = numbers(row)
      val hash = all.getInt(0)
      val fingerprint = all.getLong(1)
      val entry = entryOf(fingerprint)
      val target = if (entry >= 0) entry else table.routeBySlot(hash)
      if (labelled != null) labelled.see(fingerprint, row)
      if (noted == null)
        observer.routed(
          hash,
          fingerprint,
          target,
          entry >= 0,
          hasUpstream,
          if (hasUpstream) all.getLong(2) else 0L,
          if (hasUpstreamHash) all.getInt(3) else 0
        )
      else {
        val found = noted.find(all.getLong(2))
        observer.routed(
          hash,
          fingerprint,
          target,
          entry >= 0,
          found,
          if (found) noted.fingerprint else 0L,
          if (found) noted.hash else 0
        )
      }
      target
    }
  }
}
