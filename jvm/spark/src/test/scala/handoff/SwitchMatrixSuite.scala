package org.apache.spark.sql.keyroute.handoff

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import io.keyroute.core.table.GroupTable

/** For each kind of operator and state: a table switches the running query, the query is stopped and
  * goes on with it, and the empty table takes it back; every row as Spark alone would have it. */
class SwitchMatrixSuite extends AnyFunSuite with BeforeAndAfterEach {
  import SwitchTest.spark

  override protected def beforeEach(): Unit = {
    TestDesk.reset()
    TestDecider.change = identity
  }

  private val cells = for {
    workload <- Seq(
      Workloads.aggregation,
      Workloads.windowed,
      Workloads.deduplication,
      Workloads.transformWithState(spark)
    )
    storage <- Storage.rocksDbs ++ (if (workload.rocksDbOnly) Nil else Seq(Storage.hdfs))
  } yield (workload, storage)

  cells.foreach { case (workload, storage) =>
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      val query = new TestQuery(workload, storage)
      val variables =
        if (workload.name == "transformWithState")
          Seq("rows", "kinds", "list", "aging").map(Some(_))
        else Seq(None)
      query.start()
      query.feed(2)
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.feed(2)
      assert(
        TestDesk.switches.map(s => (s.batch, s.toVersion, s.pulled)) == Seq((2L, 7L, false)),
        TestDesk.postponements ++ TestDesk.refused
      )
      assert(TestDesk.switches.head.rowsMoved > 0)
      query.stop()
      TestDesk.wantNothing()
      val tables = TestTables.random(7L, Workloads.Keys)(TestDesk.started.head)
      variables.foreach { v =>
        val (elsewhere, rows) = query.misplaced(query.table(tables), v)
        assert(elsewhere.isEmpty && rows >= Workloads.Keys.size, v)
      }

      query.start()
      query.feed(1)
      assert(TestDesk.started.exists(q => q.inForce == tables && q.sinceBatch == 2))
      TestDesk.want(TestTables.empty(8L))
      query.feed(2)
      query.stop()
      assert(
        TestDesk.switches.map(s => (s.batch, s.toVersion)) == Seq((2L, 7L), (5L, 8L)),
        TestDesk.postponements ++ TestDesk.refused
      )
      assert(query.wrong == Nil)
      variables.foreach { v =>
        val (elsewhere, _) = query.misplaced(GroupTable.empty(query.table(tables).shape), v)
        assert(elsewhere.isEmpty, v)
      }
    }
  }
}
