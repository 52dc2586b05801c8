package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.functions.count
import org.apache.spark.sql.keyroute.publish.RunningQuery
import org.apache.spark.sql.keyroute.route.BatchRoute

import io.keyroute.core.table.{GroupShape, RoutingTables}

/** Every reason why a query's operators stay on Spark's hash: the status gets it, nothing is routed
  * although a table is wanted, and the results are Spark's. */
class BypassReasonsSuite extends SwitchStory {

  /** What [[Workloads.aggregation]] would be routed by. */
  private val shape =
    GroupShape(0, Seq(0), SwitchTest.Partitions, 1024, Seq(0), Seq("k"), Seq("STRING"), true)

  private def wanted(query: RunningQuery): RoutingTables =
    TestTables.random(7L, Workloads.Keys)(query.copy(groups = Seq(shape)))

  /** The reasons that a query's operators have, each of them one. */
  private def reasons(
      workload: Workload = Workloads.aggregation,
      storage: Storage = Storage.plain
  )(settings: (String, String)*): Seq[String] = {
    val routes = new ConcurrentLinkedQueue[BatchRoute]()
    TestDecider.change = { decision =>
      FailingFiles.fails = FailingFiles.works
      routes.add(decision.route)
      decision
    }
    TestDesk.want(wanted)
    withSetting(settings: _*) {
      val query = started(storage, workload)
      query.feed(3)
      query.stop()
      assert(query.wrong == Nil)
    }
    val decided = routes.asScala.toSeq
    assert(decided.nonEmpty && decided.forall(r => r.groupOf.isEmpty && r.version == 0))
    assert(TestDesk.switches.isEmpty)
    assert(TestDesk.started.size == 1)
    val run = TestDesk.started.head
    assert(run.groups.isEmpty)
    run.operators.map(o => o.reason.getOrElse(fail(s"operator ${o.id} has no reason")))
  }

  /** Of a query with one operator. */
  private def reasonOf(
      workload: Workload = Workloads.aggregation,
      storage: Storage = Storage.plain
  )(settings: (String, String)*): String = {
    val all = reasons(workload, storage)(settings: _*)
    assert(all.size == 1)
    all.head
  }

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

  test("an operator that is not known") {
    // As real-time mode has it: every row gives one.
    val totals = Workloads.aggregation.copy(
      query = _.groupBy("k").agg(count("*").as("n")).toDF(),
      model = () => {
        val rows = mutable.Map.empty[String, Long].withDefaultValue(0L)
        _.map { e =>
          rows(e.k) += 1
          s"[${e.k},${rows(e.k)}]"
        }
      }
    )
    val reason = reasonOf(totals)("spark.sql.streaming.useStreamlineAggregator" -> "true")
    assert(reason.contains("cannot be moved"))
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
