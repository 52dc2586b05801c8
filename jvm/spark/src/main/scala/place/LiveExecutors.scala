package org.apache.spark.sql.keyroute.place

import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.{ExecutorAllocationClient, SparkContext}

/** The executors that partitions can be placed on. Without the wanted number of them the first
  * batch would pile its partitions up on those that came first; so it waits, once and for a bounded
  * time. */
final class LiveExecutors(sc: SparkContext, settings: String => Option[String]) {
  private val arrival = LiveExecutors.wanted(sc.master, settings)
    .map(new ExecutorWait(_, waitMs, () => now().size))

  /** Host of each live executor, by its id. Waits at its first call only; streams that start at
    * once wait together.
    * @throws java.lang.InterruptedException
    *   where the stream is stopped meanwhile
    */
  def all(): Map[String, String] = {
    arrival.foreach(_.await())
    now()
  }

  private def waitMs: Long =
    sc.conf.getTimeAsMs("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s")

  private def now(): Map[String, String] = {
    val backend = sc.schedulerBackend
    val out = excluded
    sc.env.blockManager.master.getMemoryStatus.keysIterator.filterNot(_.isDriver)
      .filterNot(id => out(id.executorId))
      .filter { id =>
        backend match {
          case client: ExecutorAllocationClient => client.isExecutorActive(id.executorId)
          case _ => true
        }
      }
      .map(id => id.executorId -> id.host).toMap
  }

  /** Those that get no tasks, since too many have failed there (spark.excludeOnFailure.enabled). */
  private[place] def excluded: Set[String] =
    sc.statusStore.executorList(activeOnly = true).filter(_.isExcluded).map(_.id).toSet
}

object LiveExecutors {
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
