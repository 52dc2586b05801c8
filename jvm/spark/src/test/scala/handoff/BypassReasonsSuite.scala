package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.atomic.AtomicInteger

import scala.collection.mutable

import org.apache.spark.sql.functions.count

/** Every reason why a query's operators stay on Spark's hash: the status gets it, nothing is routed
  * although a table is wanted, and the results are Spark's. */
class BypassReasonsSuite extends BypassReasons {

  private def aggregationHas(setting: (String, String))(reason: String): Unit =
    assert(reasonOf()(setting) == reason)

  test("control: without a reason the table that is wanted is switched to") {
    TestDesk.want(wanted)
    val query = started(Storage.plain)
    query.feed(3)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.toVersion) == Seq(7L))
    assert(TestDesk.started.flatMap(_.operators.flatMap(_.reason)).isEmpty)
  }

  test("turned off") {
    aggregationHas("spark.keyroute.enabled" -> "false")("spark.keyroute.enabled is false")
  }

  test("stores that are unloaded with each commit") {
    val setting = "spark.sql.streaming.stateStore.unloadOnCommit"
    aggregationHas(setting -> "true")(s"$setting is true")
  }

  test("checksums in the rows of the state") {
    val setting = "spark.sql.streaming.stateStore.rowChecksum.enabled"
    aggregationHas(setting -> "true")(s"$setting is true")
  }

  test("state in Avro") {
    val setting = "spark.sql.streaming.stateStore.encodingFormat" -> "avro"
    val processor = Workloads.transformWithState(SwitchTest.spark)
    assert(reasonOf(processor)(setting) == "the state is encoded as avro")
  }

  test("a distribution that is not strict") {
    val setting = "spark.sql.streaming.statefulOperator.useStrictDistribution"
    assert(reasons()(setting -> "false").forall(_.contains(s"($setting=false)")))
  }

  test("one partition") {
    aggregationHas("spark.sql.shuffle.partitions" -> "1")("it has one partition")
  }

  test("a number of slots that cannot be") {
    val reason = reasonOf()("spark.keyroute.slots" -> Int.MaxValue.toString)
    assert(reason.contains("slots"))
  }

  test("a state provider of Spark's") {
    val reason = reasonOf(storage = Storage.plain.ofSpark)()
    assert(reason.contains("RocksDBStateStoreProvider; stop it and run `keyroute adopt`"))
    assert(TestDesk.started.flatMap(_.bypass) == Seq(reason))
  }

  test("state whose layout cannot be read") {
    // Spark has read it by now. The store fails until all is decided.
    TestDecider.see = { batch =>
      FailingFiles.fails = (path, writes) => !writes && path.toString.contains("_metadata/schema")
      batch
    }
    val reason = reasonOf()(FailingFiles.Setting)
    assert(reason.contains("the layout of the state of stateStoreSave cannot be read"))
    assert(reason.contains("the test's store fails"))
  }

  test("control: state whose layout can be read at the second try") {
    val failures = new AtomicInteger(1)
    TestDecider.see = { batch =>
      FailingFiles.fails = (path, writes) =>
        !writes && path.toString.contains("_metadata/schema") && failures.getAndDecrement() > 0
      batch
    }
    TestDesk.want(wanted)
    val query = withSetting(FailingFiles.Setting)(started(Storage.plain))
    query.feed(2)
    query.stop()
    assert(failures.get < 0)
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(0L))
    assert(TestDesk.started.flatMap(_.operators.flatMap(_.reason)).isEmpty)
  }

  // No query makes these plans: they are made by hand from one that does run.

  test("an operator that no exchange by a key feeds") {
    TestDecider.see = _.copy(groups = Nil)
    assert(reasons()() == Seq("it has no exchange of its own by a key"))
  }

  test("an operator that its plan lacks") {
    TestDecider.see = batch => batch.copy(operators = batch.operators.take(1))
    assert(reasons(counted)() == Seq("not all of its group's operators are in the plan"))
  }

  test("an operator with several stores") {
    TestDecider.see = batch =>
      batch.copy(operators = batch.operators.map(_.copy(stores = Seq("default", "another"))))
    assert(reasons()() == Seq("stateStoreSave has several state stores"))
  }

  test("state that is keyed otherwise than its rows") {
    TestDecider.see = batch => batch.copy(groups = batch.groups.map(_.copy(keyTypes = Seq("INT"))))
    assert(reasons()() == Seq(
      "the state of stateStoreSave is keyed by STRING in family default, its rows by INT"
    ))
  }

  /** Two operators of one group. */
  private def counted: Workload = Workloads.aggregation.copy(
    query = _.dropDuplicates("k").groupBy("k").agg(count("*").as("n")).toDF(),
    model = () => {
      val seen = mutable.Set.empty[String]
      _.map(_.k).filter(seen.add).map(k => s"[$k,1]")
    }
  )
}
