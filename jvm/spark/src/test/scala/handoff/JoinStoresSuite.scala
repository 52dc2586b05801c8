package org.apache.spark.sql.keyroute.handoff

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.streaming.state.NoPrefixKeyStateEncoderSpec
import org.apache.spark.sql.keyroute.state.{FamilyKeys, StoreKeys}
import org.apache.spark.sql.types.StructType

/** A join whose parts are not those that its format has must not be moved. */
class JoinStoresSuite extends AnyFunSuite {
  private val key = new StructType().add("field0", "string")
  private val counted = for {
    side <- Seq("left", "right")
    part <- Seq("keyToNumValues", "keyWithIndexToValue")
  } yield s"$side-$part"
  private val byTime = for {
    side <- Seq("left", "right")
    part <- Seq("keyWithTsToValues", "tsWithKey")
  } yield s"$side-$part"

  private def store(name: String, format: Option[Int], families: Seq[String]): StoreKeys =
    StoreKeys(
      0L,
      "symmetricHashJoin",
      name,
      format,
      rocksDb = true,
      JoinStores.withFamilies(format),
      families.map(FamilyKeys(_, key, key, NoPrefixKeyStateEncoderSpec(key), None)),
      Seq(0)
    )

  private def stores(format: Int, parts: Seq[String]): Seq[StoreKeys] =
    if (JoinStores.withFamilies(Some(format))) Seq(store("default", Some(format), parts))
    else parts.map(store(_, Some(format), Seq("default")))

  test("each state format has its own four parts") {
    for (format <- 1 to 3) assert(JoinStores.problem(stores(format, counted)).isEmpty)
    assert(JoinStores.problem(stores(4, byTime)).isEmpty)
  }

  test("a part that is missing, unknown, or of another format") {
    for (format <- 1 to 4) {
      val own = if (format == 4) byTime else counted
      val other = if (format == 4) counted else byTime
      Seq(own.tail, own :+ "left-more", own.tail :+ "left-more", other).foreach { parts =>
        val problem = JoinStores.problem(stores(format, parts))
        assert(problem.exists(p => parts.forall(p.contains) && own.forall(p.contains)), parts)
      }
    }
  }

  test("a format that is not known") {
    assert(JoinStores.problem(stores(5, byTime)).exists(_.contains("5")))
    assert(JoinStores.problem(Seq(store("default", None, counted))).exists(_.contains("not known")))
  }
}
