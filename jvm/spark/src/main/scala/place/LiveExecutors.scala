package org.apache.spark.sql.keyroute.place

import java.util.concurrent.TimeUnit.MILLISECONDS

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.{ExecutorAllocationClient, SparkContext}

/** The executors that partitions can be placed on. Without the wanted number of them the first
  * batch would pile its partitions up on those that came first; so it waits, once and for a bounded
  * time. */
final class LiveExecutors(sc: SparkContext, settings: String => Option[String]) extends Logging {
  private val wanted = LiveExecutors.wanted(sc.master, settings)
  private var waited = false

  /** Host of each live executor, by its id. Waits at its first call only; streams that start at
    * once wait together. */
  def all(): Map[String, String] = {
    synchronized {
      if (!waited) {
        await()
        waited = true
      }
    }
    now()
  }

  private def now(): Map[String, String] = {
    val backend = sc.schedulerBackend
    sc.env.blockManager.master.getMemoryStatus.keysIterator.filterNot(_.isDriver)
      .filter { id =>
        backend match {
          case client: ExecutorAllocationClient => client.isExecutorActive(id.executorId)
          case _ => true
        }
      }
      .map(id => id.executorId -> id.host).toMap
  }

  private def await(): Unit = wanted.foreach { number =>
    val limitMs = sc.conf.getTimeAsMs("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s")
    val deadline = System.nanoTime() + MILLISECONDS.toNanos(limitMs)
    var found = now().size
    if (found < number) {
      logInfo(s"$found of $number executors are there: waiting to place partitions")
    }
    while (found < number && System.nanoTime() < deadline) {
      // Spark has no event that a stream's thread could wait on; an interrupt ends the wait.
      Thread.sleep(LiveExecutors.PollMs)
      found = now().size
    }
    if (found < number) {
      logWarning(s"only $found of $number executors came within $limitMs ms: partitions are " +
        "placed on those, and spread again when more come")
    }
  }
}

object LiveExecutors {
  private val PollMs = 50L
  private val localCluster = """local-cluster\[\s*(\d+)\s*,.*""".r

  /** The number of executors that the application asks for, where it is known. */
  def wanted(master: String, settings: String => Option[String]): Option[Int] = {
    def dynamic: Boolean = settings("spark.dynamicAllocation.enabled").contains("true")
    val fromMaster = master match {
      case localCluster(n) => n.toIntOption
      case _ => None
    }
    Option(Settings.placementExecutors.in(settings)).filter(_ > 0)
      .orElse(if (dynamic) None else settings("spark.executor.instances").flatMap(_.toIntOption))
      .orElse(fromMaster)
  }
}
