package org.apache.spark.sql.keyroute.gateway

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.count.Reports
import org.apache.spark.sql.keyroute.publish.{OperatorState, RunningQuery, SwitchFigures}

import io.keyroute.proto.v1.{ApplicationStatus, QueryStatus}

class QueryBoardSuite extends AnyFunSuite {
  private val board = new QueryBoard("app-7", "0.1.0", "4.3.0")

  private def status: ApplicationStatus = board.status(_ => Nil)
  private def of(query: RunningQuery): QueryStatus =
    status.getQueriesList.asScala.find(_.getQueryId == query.queryId.toString).get
  private def switch(batch: Long, from: Long): SwitchFigures =
    SwitchFigures(batch, from, from + 1, rowsMoved = 3, rowsSeen = 30, handoffMs = 9, pulled = true)

  test("a query: groups, operators with reasons, tables in force") {
    val query = Reports.query(version = 4, since = 17).copy(
      operators = Seq(
        OperatorState(0, "dedupe", 0, None),
        OperatorState(1, "symmetricHashJoin", 1, Some("joins are not routed yet"))
      ),
      bypass = Some("real-time mode")
    )
    board.started(query)
    val told = of(query)
    assert(told.getGroupsList.asScala.map(_.getGroup) == Seq(0, 1))
    assert(told.getOperatorsList.asScala.map(o => (o.getName, o.getRouted, o.getReason)) ==
      Seq(("dedupe", true, ""), ("symmetricHashJoin", false, "joins are not routed yet")))
    assert((told.getTableVersion, told.getTableSinceBatch) == (4L, 17L))
    assert(told.getTableHash == query.inForce.hash)
    assert(told.getBypass == "real-time mode")
    assert((status.getAppId, status.getKeyrouteVersion, status.getSparkVersion) ==
      ("app-7", "0.1.0", "4.3.0"))
  }

  test("a query without a table has no hash, and a query without a name an empty one") {
    val query = Reports.query().copy(name = null)
    board.started(query)
    assert(of(query).getTableHash.isEmpty && of(query).getName.isEmpty)
  }

  test("a switch ends the waiting, and keeps the longest apply") {
    val query = Reports.query()
    board.started(query)
    board.waiting(query.runId, "2 stores are not loaded")
    assert(of(query).getWaiting == "2 stores are not loaded")
    board.switched(query.runId, switch(batch = 5, from = 0), "abc")
    Seq(10L, 30L, 20L).foreach(board.applied(query.runId, 5, _))
    board.applied(query.runId, 6, 99)
    val told = of(query)
    assert(told.getWaiting.isEmpty)
    assert((told.getTableVersion, told.getTableHash, told.getTableSinceBatch) == (1L, "abc", 5L))
    val last = told.getSwitches(0)
    assert((last.getBatch, last.getFromVersion, last.getToVersion, last.getRowsMoved) ==
      (5L, 0L, 1L, 3L))
    assert((last.getRowsSeen, last.getHandoffMs, last.getApplyMs, last.getPulled) ==
      (30L, 9L, 30L, true))
  }

  test("notices come and go by topic") {
    val query = Reports.query()
    board.started(query)
    board.notice(query.runId, "registration", Some("not registered"))
    board.notice(query.runId, "zookeeper", Some("gone"))
    assert(of(query).getWaiting == "not registered; gone")
    board.notice(query.runId, "registration", None)
    assert(of(query).getWaiting == "gone")
  }

  test("a new run takes the old one's place and keeps its switches; old runs change nothing") {
    val query = Reports.query()
    board.started(query)
    board.switched(query.runId, switch(batch = 5, from = 0), "abc")
    val again = Reports.query(query.queryId, version = 1, since = 5)
    board.started(again)
    board.waiting(query.runId, "of the old run")
    assert(of(again).getRunId == again.runId.toString)
    assert(of(again).getSwitchesCount == 1 && of(again).getWaiting.isEmpty)
  }

  test("switches and ended queries are bounded") {
    val query = Reports.query()
    board.started(query)
    (0L until 200L).foreach(n => board.switched(query.runId, switch(batch = n, from = n), "x"))
    assert(of(query).getSwitchesCount == QueryBoard.MostSwitches)
    assert(of(query).getSwitches(QueryBoard.MostSwitches - 1).getBatch == 199)
    val many = Seq.fill(100)(Reports.query())
    many.foreach { q =>
      board.started(q)
      board.ended(q.runId)
    }
    val known = status.getQueriesList.asScala.map(_.getQueryId).toSet
    assert(many.count(q => known(q.queryId.toString)) <= QueryBoard.MostEnded + 1)
    assert(known(query.queryId.toString))
  }
}
