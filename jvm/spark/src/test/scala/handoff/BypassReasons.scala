package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.keyroute.publish.RunningQuery
import org.apache.spark.sql.keyroute.route.BatchRoute

import io.keyroute.core.table.{GroupShape, RoutingTables}

/** Asks a query why its operators stay on Spark's hash. */
trait BypassReasons extends SwitchStory {

  /** What [[Workloads.aggregation]] would be routed by. */
  private val shape =
    GroupShape(0, Seq(0), SwitchTest.Partitions, 1024, Seq(0), Seq("k"), Seq("STRING"), true)

  protected def wanted(query: RunningQuery): RoutingTables =
    TestTables.random(7L, Workloads.Keys)(query.copy(groups = Seq(shape)))

  /** The reasons that a query's operators have, each of them one. */
  protected def reasons(
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
  protected def reasonOf(
      workload: Workload = Workloads.aggregation,
      storage: Storage = Storage.plain
  )(settings: (String, String)*): String = {
    val all = reasons(workload, storage)(settings: _*)
    assert(all.size == 1)
    all.head
  }
}
