package org.apache.spark.sql.keyroute.place

import java.util.UUID

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId
import org.apache.spark.sql.keyroute.route.{PlannedBatch, PlannedOperator}

/** Places partitions by telling Spark's state store coordinator, before a batch, that their stores
  * are where they shall be: the scheduler sends the tasks there. Asks for the pins that change
  * only.
  *
  * @param seen
  *   executor on which each group's partition last ran, of a run
  */
final class CoordinatorPlacement(
    sc: SparkContext,
    settings: String => Option[String],
    seen: UUID => Map[(Long, Int), String]
) extends Placement with Logging {
  private val executors = new LiveExecutors(sc, settings)
  // Each stream's thread uses the entry of its own run.
  private val runs = new RecentPins(CoordinatorPlacement.MostRuns)

  /** A failure is logged: the batch then runs where Spark puts it. */
  override def beforeBatch(batch: PlannedBatch, parts: IndexedSeq[Int]): Unit =
    try {
      val live = executors.all()
      if (live.nonEmpty) place(batch, parts, live)
    } catch {
      case NonFatal(e) =>
        logWarning(s"batch ${batch.batch} of query ${batch.queryId} is not placed", e)
    }

  private def place(
      batch: PlannedBatch,
      parts: IndexedSeq[Int],
      live: Map[String, String]
  ): Unit = {
    val pins = runs.of(batch.runId)
    val partitions = batch.operators.map(_.info.numPartitions).maxOption.getOrElse(0)
    val whole = (0 until partitions).map(p => parts.applyOrElse(p, (i: Int) => i))
    val homes = PartitionAssignment.assign(whole, live.keys.toSeq, pins.homes)
    pins.forgetStrays(batch, seen(batch.runId))
    val changed = for {
      operator <- batch.operators
      store <- operator.stores
      p <- 0 until operator.info.numPartitions
      pin = Pin(operator.id, store, p)
      if !pins.pinned.get(pin).contains(homes(p))
    } yield {
      report(batch, operator, pin, live(homes(p)), homes(p))
      pins.pinned(pin) = homes(p)
    }
    pins.homes = homes.indices.map(p => p -> homes(p)).toMap
    if (changed.nonEmpty) {
      logInfo(s"batch ${batch.batch} of query ${batch.queryId}: ${changed.size} stores are " +
        s"placed on ${homes.distinct.size} executors")
    }
  }

  private def report(
      batch: PlannedBatch,
      operator: PlannedOperator,
      pin: Pin,
      host: String,
      executor: String
  ): Unit = {
    val id = StateStoreProviderId(operator.info, pin.partition, pin.store)
    batch.session.streams.stateStoreCoordinator.reportActiveInstance(id, host, executor, Nil)
    ()
  }

  override def ended(run: UUID): Unit = runs.drop(run)
}

object CoordinatorPlacement {
  private val MostRuns = 256
}

/** The pins of runs, of those that were used last. */
private[place] final class RecentPins(most: Int) {
  private val runs = mutable.LinkedHashMap.empty[UUID, RunPins]

  def of(run: UUID): RunPins = synchronized {
    val pins = runs.remove(run).getOrElse(new RunPins)
    runs(run) = pins // the newest is last
    if (runs.size > most) runs.remove(runs.head._1)
    pins
  }

  def drop(run: UUID): Unit = synchronized(runs.remove(run): Unit)
}

/** A store of a partition of an operator. */
private[place] final case class Pin(operator: Long, store: String, partition: Int)

/** What a run's stores were last pinned to. */
private[place] final class RunPins {
  val pinned: mutable.HashMap[Pin, String] = mutable.HashMap.empty
  var homes: Map[Int, String] = Map.empty

  /** Forgets the pins of partitions that ran elsewhere: their tasks told the coordinator so. */
  def forgetStrays(batch: PlannedBatch, seen: Map[(Long, Int), String]): Unit = {
    val groupOf = batch.groups.flatMap(g => g.operators.map(_ -> g.id)).toMap
    pinned.filterInPlace { (pin, executor) =>
      groupOf.get(pin.operator).flatMap(g => seen.get((g, pin.partition))).forall(_ == executor)
    }
  }
}
