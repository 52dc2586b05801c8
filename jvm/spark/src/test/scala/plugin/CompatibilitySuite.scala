package org.apache.spark.sql.keyroute.plugin

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.route.KeyRouteException

class CompatibilitySuite extends AnyFunSuite {
  test("the Spark that is compiled against fits") {
    Compatibility.check()
    Compatibility.check(s"${SparkRelease.minor}.7-SNAPSHOT", "2.13.99")
  }

  test("another minor version is refused with the jar to take") {
    val message = intercept[KeyRouteException](Compatibility.check("4.9.1", "2.13.16")).getMessage
    assert(message.contains(s"made for Spark ${SparkRelease.minor}"))
    assert(message.contains("keyroute-spark-4.9_2.13"))
  }

  test("another Scala is refused") {
    intercept[KeyRouteException](Compatibility.check(s"${SparkRelease.minor}.0", "3.3.1"))
  }
}
