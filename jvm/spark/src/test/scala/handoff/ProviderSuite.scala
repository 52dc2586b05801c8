package org.apache.spark.sql.keyroute.handoff

/** Scenario 11: a checkpoint holds on to the state store provider that made it, whatever the session
  * has; and providers that keep nothing in memory. */
class ProviderSuite extends SwitchStory {

  for (ours <- Seq(Storage.plain, Storage.hdfs)) {
    test(s"scenario 11: an old checkpoint stays on Spark's own provider, and unrouted: $ours") {
      val query = started(ours.ofSpark)
      query.feed(2)
      query.stop()
      TestDesk.reset()
      TestDesk.want(moving)
      query.start(on = ours)
      query.feed(2)
      query.stop()
      assert(query.wrong == Nil && TestDesk.switches.isEmpty)
      val reasons = TestDesk.started.flatMap(r => r.bypass.toSeq ++ r.operators.flatMap(_.reason))
      assert(reasons.size == 2 && reasons.distinct.size == 1)
      assert(
        reasons.head.contains(ours.ofSpark.provider) && reasons.head.contains("keyroute adopt")
      )
      assert(!query.file("").exists)
    }

    test(
      s"scenario 11: a checkpoint with a table goes on when the session's provider changes: $ours"
    ) {
      val query = started(ours)
      query.feed(2)
      TestDesk.want(moving)
      query.feed(1)
      query.stop()
      TestDesk.wantNothing()
      query.start(on = ours.ofSpark)
      query.feed(2)
      assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
      TestDesk.want(TestTables.empty(8L))
      query.feed(1)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(s => (s.batch, s.toVersion)) == Seq((2L, 7L), (5L, 8L)))
    }
  }

  test("scenario 15: where no version is kept in memory a switch reads the checkpoint in the end") {
    withSetting(
      "spark.sql.streaming.maxBatchesToRetainInMemory" -> "0",
      "spark.keyroute.handoff.postponements" -> "2"
    ) {
      val query = started(Storage.hdfs)
      query.feed(2)
      TestDesk.want(moving)
      query.feed(4)
      query.stop()
      TestDesk.wantNothing()
      assert(query.wrong == Nil && TestDesk.switches.size == 1)
      assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
      query.start()
      query.feed(1)
      query.stop()
      assert(query.wrong == Nil)
    }
  }
}
