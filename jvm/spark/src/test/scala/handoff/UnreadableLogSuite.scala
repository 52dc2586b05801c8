package org.apache.spark.sql.keyroute.handoff

import java.io.IOException

import org.apache.spark.sql.streaming.{StreamingQuery, StreamingQueryException}

/** A route log that cannot be read or written. It stops no query that can have no table, and every
  * query that may have one. */
class UnreadableLogSuite extends SwitchStory {
  private val assume = "spark.keyroute.routeLog.assumeNoTable" -> "true"

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    FailingFiles.fails = FailingFiles.works
  }

  private def begun(storage: Storage = Storage.plain): TestQuery = {
    val query = new TestQuery(Workloads.aggregation, storage)
    start(query)
    query
  }

  private def start(query: TestQuery, settings: (String, String)*): StreamingQuery =
    withSetting(settings :+ FailingFiles.Setting: _*)(query.start())

  private def entries(query: TestQuery): Seq[Long] =
    query.files("routes").map(_.getName.toLong).sorted

  test("a new query goes on without its log, and is routed once it can be read") {
    FailingFiles.fails = FailingFiles.ours
    TestDesk.want(moving)
    val query = begun()
    query.feed(2)
    assert(TestDesk.switches.isEmpty && entries(query) == Nil)
    FailingFiles.fails = FailingFiles.works
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    assert(TestDesk.switches.map(s => (s.batch, s.fromVersion)) == Seq((2L, 0L)))
    assert(entries(query) == Seq(2L, 3L))
    start(query)
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
    assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
  }

  for {
    (what, fails) <- Seq("read" -> FailingFiles.ours, "written" -> FailingFiles.newEntries)
  } test(s"a log that could never be $what is asked after at the next start") {
    FailingFiles.fails = fails
    val query = begun()
    query.feed(2)
    query.stop()
    FailingFiles.fails = FailingFiles.works
    val words = failure { start(query); query.feed(1) }
    assert(Seq("could not be written", "start it once with", assume._1).forall(words.contains))
    query.stop()
    start(query, assume)
    query.feed(1)
    query.stop()
    start(query)
    TestDesk.want(moving)
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(4L))
  }

  test("a log with entries that cannot be read stops the query") {
    val query = begun()
    query.feed(2)
    TestDesk.want(moving)
    query.feed(1)
    query.stop()
    TestDesk.wantNothing()
    FailingFiles.fails = FailingFiles.ours
    val words = failure { start(query); query.feed(1) }
    assert(words.contains("cannot be read") && words.contains("the test's store fails"))
    query.stop()
    FailingFiles.fails = FailingFiles.works
    start(query)
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.size == 1)
  }

  test("a first batch that is run again may have a table, and waits for its log") {
    TestDesk.want(moving)
    val query = begun()
    query.inSink = _ => throw new IllegalStateException("the sink's own")
    intercept[StreamingQueryException](query.feed(1))
    query.stop()
    query.inSink = _ => ()
    TestDesk.wantNothing()
    FailingFiles.fails = FailingFiles.ours
    assert(failure(start(query).processAllAvailable()).contains("cannot be read"))
    query.stop()
    FailingFiles.fails = FailingFiles.works
    start(query)
    query.feed(1)
    query.stop()
    // Told again, made once.
    assert(TestDesk.switches.map(_.batch) == Seq(0L, 0L))
    assert(query.wrong == Nil)
    assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
  }

  test("a switch that cannot be tried says why, whether or not the failure has a message") {
    val query = begun()
    query.feed(1)
    FailingFiles.fails = (path, writes) =>
      if (writes && path.getParent.getName == "tables") throw new IOException else false
    TestDesk.want(moving)
    query.feed(1)
    assert(TestDesk.postponements == Seq("java.io.IOException"))
    FailingFiles.fails = FailingFiles.works
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(2L))
  }

  test("an entry that another driver writes meanwhile stops the query") {
    FailingFiles.fails = FailingFiles.ours
    val query = begun()
    query.feed(1)
    FailingFiles.fails = FailingFiles.works
    val other = begun()
    other.feed(1)
    other.stop()
    assert(query.file("").exists || query.file("").mkdir())
    assert(other.file("routes").renameTo(query.file("routes")))
    assert(failure(query.feed(1)).contains("two queries run on this checkpoint"))
    query.stop()
  }

  test("a query on Spark's own provider, which never had a log, is not asked for one") {
    FailingFiles.fails = FailingFiles.ours
    val query = begun(Storage.plain.ofSpark)
    query.feed(2)
    query.stop()
    start(query)
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.started.forall(_.bypass.isDefined))
  }

  test("a new query that is turned off goes on, too") {
    FailingFiles.fails = FailingFiles.ours
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    start(query, "spark.keyroute.enabled" -> "false")
    query.feed(2)
    FailingFiles.fails = FailingFiles.works
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && entries(query) == Seq(2L))
  }

  test("a first entry that cannot be written is written with a later batch, which is as good") {
    FailingFiles.fails = FailingFiles.newEntries
    val query = begun()
    query.feed(1)
    assert(TestDesk.started.map(_.bypass) == Seq(None) && entries(query) == Nil)
    FailingFiles.fails = FailingFiles.works
    query.feed(1)
    query.stop()
    assert(entries(query) == Seq(1L))
    start(query)
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(2L))
  }

  test(
    "a later entry that cannot be written stops the query: who runs the batch would not be told"
  ) {
    val query = begun()
    query.feed(1)
    FailingFiles.fails = FailingFiles.newEntries
    val words = failure(query.feed(1))
    assert(words.contains("batch 1") && words.contains("the test's store fails"))
    assert(words.contains("start the query again"))
    query.stop()
    FailingFiles.fails = FailingFiles.works
    start(query)
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && entries(query) == Seq(0L, 1L, 2L))
  }
}
