package org.apache.spark.sql.keyroute.route

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.plans.physical.{
  ClusteredDistribution,
  HashPartitioning,
  ShuffleSpec
}
import org.apache.spark.sql.types.StringType

class RoutedPartitioningSuite extends AnyFunSuite {
  private val run = UUID.randomUUID()

  private def spec(group: Long = 0, version: Long = 1, run: UUID = run, n: Int = 4): ShuffleSpec = {
    val key = AttributeReference("k", StringType)()
    RoutedPartitioning(Seq(key), n, group, version, run)
      .createShuffleSpec(ClusteredDistribution(Seq(key)))
  }

  test("rows lie alike under the same table only: of the run, the version and the group") {
    assert(spec().isCompatibleWith(spec()))
    Seq(spec(group = 1), spec(version = 2), spec(run = UUID.randomUUID()), spec(n = 8))
      .foreach(other => assert(!spec().isCompatibleWith(other) && !other.isCompatibleWith(spec())))
  }

  test("a table agrees with no hash, and no side can be shuffled to agree with it") {
    val key = AttributeReference("k", StringType)()
    val hash = HashPartitioning(Seq(key), 4).createShuffleSpec(ClusteredDistribution(Seq(key)))
    assert(!spec().isCompatibleWith(hash) && !hash.isCompatibleWith(spec()))
    assert(!spec().canCreatePartitioning)
  }
}
