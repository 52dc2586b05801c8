package org.apache.spark.sql.keyroute.plugin

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.count.Reports
import org.apache.spark.sql.keyroute.publish.NoReconfigurations
import org.apache.spark.{SparkConf, SparkContext}

import io.keyroute.core.table.RoutingTables

class KeyRoutePluginSuite extends AnyFunSuite {
  private val rocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  private def conf(settings: (String, String)*): SparkConf =
    new SparkConf(false).setMaster("local[1]").setAppName("plugin").set("spark.ui.enabled", "false")
      .set("spark.driver.host", "127.0.0.1").set("spark.driver.bindAddress", "127.0.0.1")
      .set("spark.plugins", "io.keyroute.spark.KeyRoutePlugin")
      .set(
        "spark.keyroute.gateway.tokenFile",
        Files.createTempDirectory("keyroute").resolve("token").toString
      )
      .setAll(settings)

  private def withContext[T](conf: SparkConf)(f: SparkContext => T): T = {
    val sc = new SparkContext(conf)
    try f(sc)
    finally sc.stop()
  }

  test("the plugin alone sets extension, provider and listener") {
    withContext(conf()) { sc =>
      assert(sc.conf.get("spark.sql.extensions") == "io.keyroute.spark.KeyRouteExtension")
      assert(sc.conf.get(SparkSettings.providerKey) ==
        "org.apache.spark.sql.keyroute.state.RoutedHDFSBackedStateStoreProvider")
      assert(sc.conf.get(SparkSettings.listenersKey) == classOf[ProviderTwinListener].getName)
      assert(Driver.reconfigurations ne NoReconfigurations)
      // All on one executor: nothing to place.
      assert(Driver.placement.isEmpty)
    }
    assert(Driver.reconfigurations eq NoReconfigurations)
  }

  test("tables are asked for in stress mode, and only there") {
    val query = Reports.query()
    def asked(settings: (String, String)*): Option[RoutingTables] =
      withContext(conf(settings: _*)) { _ =>
        Driver.reconfigurations.started(query)
        Driver.reconfigurations.asked(query.runId)
      }
    assert(asked().isEmpty)
    val seeds = Seq("7", "7", "8").map(seed =>
      asked("spark.keyroute.stress.batches" -> "1", "spark.keyroute.stress.seed" -> seed).get
    )
    assert(seeds.head.version == 1 && !seeds.head.isEmpty)
    assert(seeds(0) == seeds(1) && seeds(0) != seeds(2))
  }

  test("what is configured already is kept") {
    withContext(conf(
      "spark.sql.extensions" -> "a.B, c.D",
      SparkSettings.providerKey -> rocksDB
    )) { sc =>
      assert(sc.conf.get("spark.sql.extensions") == "a.B,c.D,io.keyroute.spark.KeyRouteExtension")
      assert(sc.conf.get(SparkSettings.providerKey) ==
        "org.apache.spark.sql.keyroute.state.RoutedRocksDBStateStoreProvider")
    }
  }

  test("a provider of others is left") {
    withContext(conf(SparkSettings.providerKey -> "com.example.Provider")) { sc =>
      assert(sc.conf.get(SparkSettings.providerKey) == "com.example.Provider")
    }
  }

  test("where KeyRoute is off only the rule is there, for queries with a table in force") {
    withContext(conf("spark.keyroute.enabled" -> "false")) { sc =>
      assert(sc.conf.get("spark.sql.extensions") == "io.keyroute.spark.KeyRouteExtension")
      assert(!sc.conf.contains(SparkSettings.providerKey))
      assert(!sc.conf.contains(SparkSettings.listenersKey))
    }
  }

  test("an unknown key stops the application before it starts") {
    val e = intercept[IllegalArgumentException] {
      withContext(conf("spark.keyroute.zookeper.connect" -> "h:1"))(_ => ())
    }
    assert(e.getMessage.contains("did you mean spark.keyroute.zookeeper.connect?"))
  }

  test("a gateway that cannot open stops nothing") {
    val shared = Files.createTempFile("keyroute", "token")
    Files.writeString(shared, "0123456789abcdef")
    shared.toFile.setReadable(true, false)
    withContext(conf("spark.keyroute.gateway.tokenFile" -> shared.toString)) { sc =>
      assert(sc.parallelize(1 to 10, 1).sum() == 55)
    }
  }

  test("a ZooKeeper that does not answer stops nothing") {
    withContext(conf("spark.keyroute.zookeeper.connect" -> "127.0.0.1:1")) { sc =>
      assert(sc.parallelize(1 to 10, 1).sum() == 55)
    }
  }

  test("the token file is made for its owner only") {
    val token = Files.createTempDirectory("keyroute").resolve("token")
    withContext(conf("spark.keyroute.gateway.tokenFile" -> token.toString))(_ => ())
    assert(Files.getPosixFilePermissions(Path.of(token.toString)).toString
      .contains("OWNER_READ"))
    assert(Files.getPosixFilePermissions(token).size == 2)
  }
}
