package org.apache.spark.sql.keyroute.place

import org.scalatest.funsuite.AnyFunSuite

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
}
