package org.apache.spark.sql.keyroute.stress

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.count.{History, Reports, StatisticsCollector}
import org.apache.spark.sql.keyroute.gateway.QueryBoard
import org.apache.spark.sql.keyroute.handoff._
import org.apache.spark.sql.keyroute.plugin.Driver
import org.apache.spark.sql.keyroute.publish.RunningQueries

import io.keyroute.core.table.{GroupShape, RoutingTables}
import io.keyroute.proto.v1.QueryStatus

/** Queries that are reconfigured all the time give what they give without it. */
class StressSuite extends AnyFunSuite with BeforeAndAfterEach {
  import SwitchTest.spark

  private val Seed = 20260101L
  private val keys = Workloads.Keys.map(TestTables.fingerprint)

  override protected def beforeEach(): Unit = TestDecider.reset()
  override protected def afterEach(): Unit = Driver.reconfigurations = TestDesk

  /** In place of what a test says by hand.
    * @return
    *   where the status of the queries shows */
  private def stress(every: Int): QueryBoard = {
    assert(spark.version.nonEmpty) // it sets the desk of the tests
    val board = new QueryBoard("stress", "test", spark.version)
    val collector = new StatisticsCollector(History(100, 3), () => 0, (_, _, _) => ())
    val mode = new StressMode(every, Seed, (_, _) => keys)
    Driver.reconfigurations = new RunningQueries(board, collector, Some(mode))
    board
  }

  private def statuses(board: QueryBoard): Seq[QueryStatus] =
    board.status(_ => Nil).getQueriesList.asScala.toSeq

  private def switches(status: QueryStatus): Seq[(Long, Long)] =
    status.getSwitchesList.asScala.map(s => (s.getBatch, s.getToVersion)).toSeq

  private def moved(status: QueryStatus): Long =
    status.getSwitchesList.asScala.map(_.getRowsMoved).sum

  /** The tables that the query of a status must have. */
  private def tables(status: QueryStatus): RoutingTables = {
    val shapes = status.getGroupsList.asScala.map(GroupShape.fromProto).toSeq
    val query = Reports
      .query(UUID.fromString(status.getQueryId))
      .copy(name = status.getName, groups = shapes)
    new StressTables(Seed).draw(query, status.getTableVersion, _ => keys)
  }

  for {
    (workload, storage) <- Seq(
      Workloads.aggregation -> Storage.plain,
      Workloads.windowed -> Storage.hdfs
    )
  } test(s"${workload.name}, $storage: other tables every two batches, also after a restart") {
    val board = stress(every = 2)
    val query = new TestQuery(workload, storage)
    query.start()
    query.feed(5)
    query.stop()
    query.start()
    query.feed(6)
    query.stop()
    assert(query.wrong == Nil)
    assert(statuses(board).size == 1)
    val status = statuses(board).head
    assert(switches(status) == Seq((1L, 1L), (3L, 2L), (5L, 3L), (7L, 4L), (9L, 5L)))
    assert(status.getSwitchesList.asScala.forall(_.getRowsMoved > 0))
    assert(tables(status).hash == status.getTableHash && tables(status).isEmpty)
  }

  test("control: without migration the results differ") {
    stress(every = 2): Unit
    TestDecider.change = MigrationOff.unmoved
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    query.start()
    query.feed(3)
    query.stop()
    assert(query.wrong.nonEmpty && query.wrong.forall(_ >= 1))
  }

  test("two queries at once, in every batch from the first on") {
    val board = stress(every = 1)
    val queries = Seq(
      new TestQuery(Workloads.deduplication, Storage.plain),
      new TestQuery(Workloads.transformWithState(spark), Storage.rocksDbs.last)
    )
    queries.foreach(_.start())
    (0 until 4).foreach(_ => queries.foreach(_.feed(1)))
    queries.foreach(_.stop())
    assert(queries.flatMap(_.wrong) == Nil)
    val all = statuses(board)
    assert(all.size == 2)
    all.foreach { status =>
      assert(switches(status) == (0L to 3L).map(n => (n, n + 1)))
      assert(moved(status) > 60)
    }
    queries.foreach { query =>
      val found = query.workload.variables.map { v =>
        all.map(tables).map(t => query.misplaced(query.table(t), v)).minBy(_._1.size)
      }
      assert(found.forall { case (elsewhere, rows) => elsewhere.isEmpty && rows >= 60 })
    }
  }
}
