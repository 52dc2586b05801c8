package org.apache.spark.sql.keyroute.handoff

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.route.BatchDecision

import io.keyroute.core.table.GroupTable

/** Tests of one operator on one kind of state. */
trait SwitchCells extends AnyFunSuite with BeforeAndAfterEach {

  override protected def beforeEach(): Unit = {
    TestDesk.reset()
    TestDecider.change = identity
  }

  /** A table switches the running query, the query is stopped and goes on with it, and the empty table
    * takes it back; every row as Spark alone would have it, and all state where the table says. */
  protected def switches(workload: Workload, storage: Storage): Unit =
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      val query = new TestQuery(workload, storage)
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
      assert(query.wrong == Nil)
      val tables = TestTables.random(7L, Workloads.Keys)(TestDesk.started.head)
      workload.variables.foreach { v =>
        val (elsewhere, rows) = query.misplaced(query.table(tables), v)
        assert(elsewhere.isEmpty, v)
        query.stateRows match {
          case Some(expected) => assert(rows == expected)
          case None => assert(rows >= Workloads.Keys.size, v)
        }
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
      workload.variables.foreach { v =>
        val (elsewhere, rows) = query.misplaced(GroupTable.empty(query.table(tables).shape), v)
        assert(elsewhere.isEmpty, v)
        query.stateRows.foreach(expected => assert(rows == expected))
      }
    }

  /** What the tests see where rows are routed and their state stays.
    * @param batches
    *   from the switch on
    */
  protected def differsUnmoved(workload: Workload, storage: Storage, batches: Int = 2): Unit =
    test(s"control: without migration the results differ: ${workload.name}, $storage") {
      TestDecider.change = unmoved
      val query = new TestQuery(workload, storage)
      query.start()
      query.feed(2)
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.feed(batches)
      query.stop()
      assert(TestDesk.switches.nonEmpty && query.wrong.nonEmpty)
    }

  private def unmoved(d: BatchDecision): BatchDecision = d.copy(route =
    d.route.copy(
      switch = d.route.switch.map(s => s.copy(files = s.files.map(_.copy(segments = Nil)))),
      stores = Nil
    )
  )
}
