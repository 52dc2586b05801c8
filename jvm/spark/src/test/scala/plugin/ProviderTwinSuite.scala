package org.apache.spark.sql.keyroute.plugin

import java.nio.file.{Files, Path}

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}

class ProviderTwinSuite extends AnyFunSuite with BeforeAndAfterAll {
  private val sparks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
  private val routed = "org.apache.spark.sql.keyroute.state.RoutedRocksDBStateStoreProvider"
  private lazy val spark = SparkSession.builder().master("local[1]").appName("twins")
    .config("spark.plugins", "io.keyroute.spark.KeyRoutePlugin")
    .config(
      "spark.keyroute.gateway.tokenFile",
      Files.createTempDirectory("keyroute").resolve("token").toString
    )
    .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
    .getOrCreate()

  override def afterAll(): Unit = spark.stop()

  /** What a query of the session pins in its checkpoint. */
  private def pinned(session: SparkSession): String = {
    val checkpoint = Files.createTempDirectory("checkpoint")
    val query = session.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
      .select(col("value") % 3).distinct()
      .writeStream.format("noop").outputMode("update")
      .option("checkpointLocation", checkpoint.toString).start()
    try
      eventually {
        query.exception.foreach(throw _)
        assert(query.lastProgress != null)
        Files.readString(checkpoint.resolve(Path.of("offsets", "0")))
      }
    finally query.stop()
  }

  test("a provider that a session sets is replaced by its routed twin") {
    val session = spark.newSession()
    session.conf.set(SparkSettings.providerKey, sparks)
    assert(pinned(session).contains(routed))
    assert(session.conf.get(SparkSettings.providerKey) == sparks, "the session's own is left")
  }

  test("in a session where KeyRoute is off a new checkpoint does not need it") {
    val session = spark.newSession()
    session.conf.set(Settings.enabled.key, "false")
    assert(session.conf.get(SparkSettings.providerKey).startsWith("org.apache.spark.sql.keyroute"))
    val offsets = pinned(session)
    assert(offsets.contains(SparkSettings.defaultProvider))
    assert(!offsets.contains("keyroute"))
  }

  test("in a session where KeyRoute is off its own provider is left") {
    val session = spark.newSession()
    session.conf.set(SparkSettings.providerKey, sparks)
    session.conf.set(Settings.enabled.key, "false")
    val offsets = pinned(session)
    assert(offsets.contains(sparks) && !offsets.contains(routed))
  }
}
