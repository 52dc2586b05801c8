package org.apache.spark.sql.keyroute.handoff

/** What the driver remembers of runs. */
class DecidersSuite extends SwitchStory {

  test("runs that are over are forgotten") {
    val query = switched()
    assert(Deciders.size >= 1)
    query.start()
    query.feed(1)
    query.stop()
    assert(Deciders.size == 1)
    val active = TestDesk.started.map(_.queryId).head
    TestDesk.started.foreach(q => Deciders.ended(active, q.runId))
    assert(Deciders.size == 0)
  }
}
