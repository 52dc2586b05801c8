package org.apache.spark.sql.keyroute.handoff

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.{GroupTable, RoutingTables}

/** Tests of one operator on one kind of state. */
trait SwitchCells extends AnyFunSuite with BeforeAndAfterEach {

  override protected def beforeEach(): Unit = {
    TestDesk.reset()
    TestDecider.reset()
  }

  protected def switches(workload: Workload, storage: Storage): Unit =
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      thereAndBack(workload, storage) { (query, tables, _) =>
        workload.variables.foreach { v =>
          val (elsewhere, rows) = query.misplaced(query.table(tables), v)
          assert(elsewhere.isEmpty, v)
          query.stateRows match {
            case Some(expected) => assert(rows == expected)
            case None => assert(rows >= Workloads.Keys.size, v)
          }
        }
      }
    }

  /** A table switches the running query, the query is stopped and goes on with it, and the empty table
    * takes it back; every row as Spark alone would have it, and all state where the table says.
    *
    * @param moving
    *   the tables that are switched to, of version 7
    * @param checkState
    *   called while the query is stopped, with the tables in force and the batches so far
    */
  protected def thereAndBack(
      workload: Workload,
      storage: Storage,
      moving: RunningQuery => RoutingTables = TestTables.random(7L, Workloads.Keys)
  )(checkState: (TestQuery, RoutingTables, Int) => Unit): Unit = {
    val query = new TestQuery(workload, storage)
    begin(query)
    TestDesk.want(moving)
    query.feed(2)
    assert(
      TestDesk.switches.map(s => (s.batch, s.toVersion, s.pulled)) == Seq((2L, 7L, false)),
      TestDesk.postponements ++ TestDesk.refused
    )
    assert(TestDesk.switches.head.rowsMoved > 0)
    query.stop()
    TestDesk.wantNothing()
    assert(query.wrong == Nil)
    val tables = moving(TestDesk.started.head)
    checkState(query, tables, 4)

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
    val empty = tables.groups.map(t => GroupTable.empty(t.shape))
    checkState(query, RoutingTables(8L, tables.queryId, empty, Nil), 7)
  }

  /** Starts a query and runs two batches. */
  protected def begin(query: TestQuery): Unit = {
    query.start()
    query.feed(2)
  }

  /** What the tests see where rows are routed and their state stays.
    * @param batches
    *   from the switch on
    */
  protected def differsUnmoved(workload: Workload, storage: Storage, batches: Int = 2): Unit =
    test(s"control: without migration the results differ: ${workload.name}, $storage") {
      TestDecider.change = MigrationOff.unmoved
      val query = new TestQuery(workload, storage)
      begin(query)
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.feed(batches)
      query.stop()
      assert(TestDesk.switches.map(_.batch) == Seq(2L) && query.wrong.nonEmpty)
      // Exact up to the switch: nothing else is amiss.
      assert(query.wrong.forall(_ >= 2))
    }
}
