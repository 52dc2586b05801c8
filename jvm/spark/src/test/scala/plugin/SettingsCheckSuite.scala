package org.apache.spark.sql.keyroute.plugin

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkConf

class SettingsCheckSuite extends AnyFunSuite {
  private def refusal(key: String, value: String): String =
    intercept[IllegalArgumentException] {
      SettingsCheck.check(new SparkConf(false).set(key, value))
    }.getMessage

  test("a misspelt key is refused with the key that was meant") {
    assert(refusal("spark.keyroute.gatway.port", "1") ==
      "spark.keyroute.gatway.port is not a setting of KeyRoute: " +
      "did you mean spark.keyroute.gateway.port?")
    assert(refusal(
      "spark.keyroute.enable",
      "true"
    ).contains("did you mean spark.keyroute.enabled?"))
    assert(refusal("spark.keyroute.zookeeper", "h:1").contains("spark.keyroute.zookeeper.root"))
  }

  test("a key that is like none is refused with the list of keys") {
    val message = refusal("spark.keyroute.colourOfTheSky", "blue")
    Settings.all.foreach(s => assert(message.contains(s.key)))
  }

  test("a value that cannot be read is refused with what it must be") {
    assert(refusal("spark.keyroute.gateway.port", "many").contains("must be integer"))
    assert(refusal("spark.keyroute.enabled", "perhaps").contains("must be boolean"))
    Seq("gateway.port" -> "65536", "statistics.periods" -> "0", "slots" -> "-1").foreach {
      case (key, value) =>
        assert(refusal(s"spark.keyroute.$key", value).contains("must be from "))
    }
  }

  test("stress mode beside a ZooKeeper is refused: only one can decide") {
    val conf = new SparkConf(false).set("spark.keyroute.zookeeper.connect", "h:1")
    SettingsCheck.check(conf.clone().set("spark.keyroute.stress.batches", "0"))
    val e = intercept[IllegalArgumentException] {
      SettingsCheck.check(conf.set("spark.keyroute.stress.batches", "2"))
    }
    assert(e.getMessage.contains("spark.keyroute.zookeeper.connect") &&
      e.getMessage.contains("spark.keyroute.stress.batches"))
    assert(refusal("spark.keyroute.stress.seed", "x").contains("must be integer"))
  }

  test("keys of ours that are right, and keys of others, pass") {
    SettingsCheck.check(new SparkConf(false).set("spark.keyroute.gateway.port", "0")
      .set("spark.keyrouter.other", "x").set("spark.sql.shuffle.partitions", "3"))
  }

  test("the distance counts inserted, dropped and changed letters") {
    assert(SettingsCheck.distance("", "abc") == 3)
    assert(SettingsCheck.distance("kitten", "sitting") == 3)
    assert(SettingsCheck.distance("same", "same") == 0)
  }
}
