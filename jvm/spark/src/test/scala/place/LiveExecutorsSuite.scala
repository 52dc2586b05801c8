package org.apache.spark.sql.keyroute.place

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.scheduler._
import org.apache.spark.scheduler.cluster.ExecutorInfo
import org.apache.spark.sql.keyroute.route.StreamingTest

class LiveExecutorsSuite extends AnyFunSuite {
  private def wanted(master: String, settings: (String, String)*): Option[Int] =
    LiveExecutors.wanted(master, settings.toMap.get)

  test("the number comes from the setting, the instances, or the master") {
    assert(wanted("local-cluster[3,1,1200]").contains(3))
    assert(wanted("yarn", "spark.executor.instances" -> "8").contains(8))
    assert(wanted(
      "yarn",
      "spark.executor.instances" -> "8",
      "spark.keyroute.placement.executors" -> "5"
    ).contains(5))
  }

  test("where the number is not known nothing is waited for") {
    assert(wanted("spark://host:7077").isEmpty)
    assert(wanted(
      "yarn",
      "spark.executor.instances" -> "8",
      "spark.dynamicAllocation.enabled" -> "true"
    ).isEmpty)
  }

  test("executors that Spark excludes for their failures are left out, until it takes them back") {
    val sc = StreamingTest.spark.sparkContext
    val executors = new LiveExecutors(sc, _ => None)
    def excludedAfter(events: SparkListenerEvent*): Set[String] = {
      events.foreach(sc.listenerBus.post)
      sc.listenerBus.waitUntilEmpty()
      executors.excluded
    }
    val added = for {
      (id, host) <- Seq("7" -> "one", "8" -> "two", "9" -> "two")
    } yield SparkListenerExecutorAdded(0, id, new ExecutorInfo(host, 1, Map.empty, Map.empty))
    try {
      assert(excludedAfter(added: _*).isEmpty)
      assert(excludedAfter(SparkListenerExecutorExcluded(0, "7", 2)) == Set("7"))
      assert(excludedAfter(SparkListenerNodeExcluded(0, "two", 2)) == Set("7", "8", "9"))
      assert(excludedAfter(SparkListenerNodeUnexcluded(0, "two")) == Set("7"))
      assert(excludedAfter(SparkListenerExecutorUnexcluded(0, "7")).isEmpty)
    } finally Seq("7", "8", "9").foreach(id =>
        excludedAfter(SparkListenerExecutorRemoved(0, id, "the test is over"))
      )
  }
}
