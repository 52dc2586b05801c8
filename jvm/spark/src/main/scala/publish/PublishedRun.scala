package org.apache.spark.sql.keyroute.publish

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.{AtomicLong, AtomicReference}

import io.keyroute.core.reconfiguration.{InForce => InForceState, State, Target}
import io.keyroute.core.table.RoutingTables

/** A run as the stream's thread and the publisher's share it. What the stream's thread tells is
  * kept in one place for each kind of news, so that nothing piles up while ZooKeeper is away. */
private[publish] final class PublishedRun(val query: RunningQuery) {

  /** Tables that the next batch that can switch shall switch to. */
  val asked: AtomicReference[Option[RoutingTables]] = new AtomicReference(None)

  /** The tables that the stream's thread was last given: what it switches to, though the word may
    * have been taken back meanwhile. */
  val handed: AtomicReference[Option[RoutingTables]] = new AtomicReference(None)

  /** A route entry was written: the switch that it holds. */
  val planned: AtomicReference[Option[(Target, Long)]] = new AtomicReference(None)

  /** The rule cannot switch to these tables, and why. */
  val refusal: AtomicReference[Option[(Target, String)]] = new AtomicReference(None)

  /** The newest committed batch of this run; -1 before the first. */
  val committed: AtomicLong = new AtomicLong(-1)

  @volatile var ended: Boolean = false

  /** Open once the publisher has looked at what is wanted of the run for the first time. */
  val looked: CountDownLatch = new CountDownLatch(1)

  /** What follows is the publisher's thread's own. The state is made at the first look at the
    * checkpoint, which the stream's thread must not wait for. */
  var state: Option[State] = None
  var stored: Option[RoutingTables] = None
  var toldCommitted: Long = -1

  val inForce: InForceState = InForceState(
    if (query.inForce.version == 0) Target(0, "")
    else Target(query.inForce.version, query.inForce.hash),
    query.sinceBatch
  )

  /** What went wrong in the last pass, so that it is logged once. */
  var problem: Option[String] = None
}
