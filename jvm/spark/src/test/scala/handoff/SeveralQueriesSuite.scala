package org.apache.spark.sql.keyroute.handoff

/** Queries of one application are told apart: each switches when its own tables are wanted, and is
  * itself again when it is stopped and started, whatever its name. */
class SeveralQueriesSuite extends SwitchStory {

  test("two queries switch at different times; one is stopped and started under another name") {
    val one = new TestQuery(Workloads.aggregation, Storage.plain)
    val two = new TestQuery(Workloads.deduplication, Storage.hdfs)
    def start(query: TestQuery, name: String) =
      query.start(into = writer => query.kept(writer).queryName(name)).id
    val (first, second) = (start(one, "one"), start(two, "two"))
    def feed(): Unit = Seq(one, two).foreach(_.feed(1))
    def switched(id: java.util.UUID) = TestDesk.switchesOf(id).map(s => (s.batch, s.toVersion))

    feed()
    TestDesk.wantOf(first)(moving)
    feed()
    feed()
    assert(switched(first) == Seq((1L, 7L)) && switched(second) == Nil)
    TestDesk.wantOf(second)(TestTables.random(9L, Workloads.Keys))
    one.stop()
    two.feed(1)
    assert(start(one, "another") == first)
    feed()
    TestDesk.wantOf(first)(TestTables.empty(8L))
    feed()
    assert(switched(first) == Seq((1L, 7L), (4L, 8L)) && switched(second) == Seq((3L, 9L)))
    two.stop()
    one.feed(1)
    one.stop()
    assert(one.wrong == Nil && two.wrong == Nil)
    val runs = TestDesk.started.groupMap(_.queryId)(q => (q.name, q.inForce.version))
    assert(runs(first).toSet == Set(("one", 0L), ("another", 7L)))
    assert(runs(second) == Seq(("two", 0L)))
  }
}
