package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.keyroute.publish.RunningQuery

import io.keyroute.core.table.RoutingTables

/** Tables that are not switched to, for what they are or for what the session says. */
class RefusedTablesSuite extends SwitchStory {
  import SwitchTest.spark

  test("tables that do not fit are refused, and the query goes on") {
    val query = switched()
    query.start()
    TestDesk.want(q => RoutingTables(6L, q.queryId.toString, Nil, Nil))
    query.feed(1)
    TestDesk.want(_ => RoutingTables(8L, "another", Nil, Nil))
    query.feed(1)
    TestDesk.want { q =>
      val shape = q.groups.head.copy(partitions = 2, slots = 1024)
      TestTables.random(8L)(q.copy(groups = Seq(shape)))
    }
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.size == 1)
    Seq("not greater", "another", "number of partitions").zip(TestDesk.refused).foreach {
      case (words, reason) => assert(reason.contains(words))
    }
    assert(TestDesk.refused.size == 3)
  }

  test("tables that can never be switched to are refused at once, and tried once") {
    val ways = Seq[(Long, RunningQuery => RoutingTables, String)](
      (100L, moving, "leave one partition"),
      (1700L, TestTables.gathered(7L, Workloads.Keys), "arrive at partition 0")
    )
    ways.foreach { case (limit, tables, words) =>
      TestDesk.reset()
      withSetting("spark.keyroute.handoff.maxBytes" -> limit.toString) {
        val query = started(Storage.plain)
        query.feed(2)
        TestDesk.want(tables)
        query.feed(2)
        assert(TestDesk.refused.size == 1 && TestDesk.postponements.isEmpty)
        assert(TestDesk.refused.head.contains(words))
        assert(query.files("handoff").isEmpty)
        TestDesk.want(TestTables.empty(8L))
        query.feed(1)
        query.stop()
        assert(query.wrong == Nil && TestDesk.switches.map(_.toVersion) == Seq(8L))
      }
    }
  }

  test("turned off, no table is asked for, but one in force stays") {
    spark.conf.set("spark.keyroute.enabled", "false")
    try {
      TestDesk.want(moving)
      val query = started(Storage.plain)
      query.feed(1)
      query.stop()
      assert(TestDesk.switches.isEmpty && query.wrong == Nil)
      spark.conf.unset("spark.keyroute.enabled")
      query.start()
      query.feed(1)
      query.stop()
      spark.conf.set("spark.keyroute.enabled", "false")
      query.start()
      query.feed(1)
      query.stop()
      assert(TestDesk.switches.map(_.batch) == Seq(1L) && query.wrong == Nil)
      // The run that was turned off from its beginning had no groups.
      val routed = TestDesk.started.filter(_.groups.nonEmpty)
      assert(routed.size == 2)
      assert(query.misplaced(query.table(moving(routed.head)), None)._1.isEmpty)
    } finally spark.conf.unset("spark.keyroute.enabled")
  }

  test("turned off, a table in force can be taken back, and others are refused") {
    val query = switched()
    withSetting("spark.keyroute.enabled" -> "false") {
      query.start()
      TestDesk.want(TestTables.random(8L, Workloads.Keys))
      query.feed(1)
      assert(TestDesk.refused.size == 1 && TestDesk.refused.head.contains("is false"))
      TestDesk.want(TestTables.empty(9L))
      query.feed(2)
      query.stop()
    }
    assert(query.wrong == Nil && TestDesk.switches.map(_.toVersion) == Seq(7L, 9L))
  }

  test("what kept a query on Spark's hash is asked anew by each run without a table") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    withSetting("spark.keyroute.enabled" -> "false") {
      query.start()
      query.feed(2)
      query.stop()
    }
    movedAtStart(query)
    assert(TestDesk.switches.map(_.batch) == Seq(2L))
  }

  test("a setting of the session that cannot be read stops no query") {
    withSetting(
      "spark.keyroute.enabled" -> "flase",
      "spark.keyroute.placement.enabled" -> "perhaps",
      "spark.keyroute.handoff.timeoutMs" -> "soon"
    ) {
      val query = switched()
      assert(query.wrong == Nil)
    }
  }
}
