package org.apache.spark.sql.keyroute.handoff

import java.io.{File, RandomAccessFile}
import java.nio.file.{Files, StandardCopyOption}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.keyroute.publish.RunningQuery
import org.apache.spark.sql.keyroute.route.KeyRouteException
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.util.Utils

import io.keyroute.core.table.RoutingTables

/** What happens to switches, and to the route log, when things go wrong. */
class SwitchFailureSuite extends SwitchCells {
  import SwitchTest.spark

  private val moving = TestTables.random(7L, Workloads.Keys) _

  private def started(
      storage: Storage,
      workload: Workload = Workloads.aggregation,
      fromFiles: Boolean = false
  ): TestQuery = {
    val query = new TestQuery(workload, storage, fromFiles)
    query.start(): Unit
    query
  }

  /** A query that switched in batch 2 and ran two batches more. */
  private def switched(fromFiles: Boolean = false): TestQuery = {
    val query = started(Storage.plain, fromFiles = fromFiles)
    query.feed(2)
    TestDesk.want(moving)
    query.feed(3)
    query.stop()
    TestDesk.wantNothing()
    assert(TestDesk.switches.map(_.batch) == Seq(2L), TestDesk.postponements)
    query
  }

  /** The message of the deepest cause of ours. */
  private def failure(body: => Unit): String = {
    val e = intercept[StreamingQueryException](body)
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
      .collect { case k: KeyRouteException => k.getMessage }.toSeq.lastOption
      .getOrElse(fail(s"not ours: $e", e))
  }

  for {
    storage <- Seq(Storage.plain, Storage.rocksDbs.last, Storage.hdfs)
    (what, harm) <- Seq[(String, File => Unit)](
      "whole" -> (_ => ()),
      "lost" -> (f => assert(f.delete())),
      "damaged" -> (f => flip(f, f.length() - 3)),
      "damaged in its head" -> (f => flip(f, 14))
    )
  } test(s"a batch that switched and failed is run again, its handoff files $what: $storage") {
    val query = started(storage)
    query.feed(2)
    TestDesk.want(moving)
    query.inSink = batch => if (batch == 2) throw new IllegalStateException("the sink's own")
    intercept[StreamingQueryException](query.feed(1))
    query.stop()
    val files = query.files("handoff/2").filterNot(_.getName.startsWith("."))
    assert(files.size == SwitchTest.Partitions)
    files.foreach(harm)
    query.inSink = _ => ()
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
    // Told again, for the sake of who reads; made once.
    assert(TestDesk.switches.map(s => (s.batch, s.rowsMoved)).distinct.size == 1)
    assert(TestDesk.switches.map(_.batch) == Seq(2L, 2L))
  }

  Seq(Storage.plain, Storage.hdfs).foreach { storage =>
    test(s"a batch that was begun without a table does not switch when it is run again: $storage") {
      val query = started(storage)
      query.feed(2)
      query.inSink = batch => if (batch == 2) throw new IllegalStateException("the sink's own")
      intercept[StreamingQueryException](query.feed(1))
      query.stop()
      query.inSink = _ => ()
      TestDesk.want(moving)
      query.start()
      query.feed(2)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(_.batch) == Seq(3L))
      assert(TestDesk.postponements.head.contains("was begun by an earlier run"))
    }
  }

  private def flip(file: File, at: Long): Unit = {
    val bytes = new RandomAccessFile(file, "rw")
    try {
      bytes.seek(at)
      val old = bytes.readByte()
      bytes.seek(at)
      bytes.write(old ^ 0x55)
    } finally bytes.close()
    // The local file system's own checksum would find it first, and say the same.
    new File(file.getParentFile, s".${file.getName}.crc").delete(): Unit
  }

  (Storage.rocksDbs :+ Storage.hdfs).foreach { storage =>
    test(s"asked for before a run's first batch, state is read from the checkpoint: $storage") {
      val query = started(storage)
      query.feed(2)
      query.stop()
      TestDesk.want(moving)
      query.start()
      query.feed(2)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(s => (s.batch, s.pulled)) == Seq((2L, true)))
      assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
    }
  }

  test("asked for before the first batch of all: the query begins with the table") {
    TestDesk.want(moving)
    val query = started(Storage.plain)
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    query.start()
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(0L))
    assert(query.misplaced(query.table(moving(TestDesk.started.head)), None)._1.isEmpty)
  }

  test("scenario 5: after a roll-back entries of the other timeline go aside") {
    Seq(3L, 1L).foreach { to =>
      TestDesk.reset()
      val query = switched(fromFiles = true)
      (to to 4L).foreach { b =>
        Seq("offsets", "commits").foreach { folder =>
          Files.delete(query.checkpoint.resolve(folder).resolve(b.toString))
          Files.deleteIfExists(query.checkpoint.resolve(folder).resolve(s".$b.crc"))
        }
      }
      query.batches --= (to to 4L)
      query.start()
      query.feed(1)
      query.stop()
      // What was rolled back comes again, in whatever batches.
      val events = (0 to 5).flatMap(Workloads.batch)
      val wanted = events.groupBy(_.k).map { case (k, es) => s"[$k,${es.size},${es.map(_.v).sum}]" }
      val last = query.batches.toSeq.flatMap(_._2).map(row => row.takeWhile(_ != ',') -> row)
        .toMap.values
      assert(last.toSet == wanted.toSet, s"rolled back to $to")
      assert(query.files("aside").map(_.getName.split('-')(1).toLong) == (to to 4L).toSeq
        .filter(_ >= 2))
      assert(query.files("routes").map(_.getName.toLong).contains(to) == to >= 3)
    }
  }

  test("scenario 6: a checkpoint without the folder keyroute, or without its end, is refused") {
    val query = switched()
    val whole = query.file("")
    val copy = Files.createTempDirectory("keyroute-copy").resolve("keyroute")
    assert(whole.renameTo(copy.toFile))
    val words = failure { query.start(); query.feed(1) }
    assert(Seq("no route log", "could not be written", "assumeNoTable").forall(words.contains))
    query.stop()

    Utils.deleteRecursively(whole)
    Files.move(copy, whole.toPath, StandardCopyOption.REPLACE_EXISTING)
    val newest = query.files("routes").maxBy(_.getName.toLong)
    val kept = new File(newest.getParentFile.getParentFile, "kept")
    assert(newest.renameTo(kept))
    assert(failure { query.start(); query.feed(1) }.contains("entries are missing"))
    query.stop()

    assert(kept.renameTo(newest))
    query.start()
    query.feed(1)
    query.stop()
    assert(query.wrong.filter(_ < 5) == Nil)
  }

  test("scenario 24: a route entry that another driver wrote stops the query") {
    val query = started(Storage.plain)
    TestDesk.want(moving)
    query.feed(3)
    val layout = new CheckpointLayout(
      new Path(query.checkpoint.toString),
      spark.sessionState.newHadoopConf()
    )
    val log = new RouteLog(spark, layout)
    log.commit(log.entry(2).copy(batch = 3))
    assert(failure(query.feed(1)).contains("two queries run on this checkpoint"))
    query.stop()
  }

  test("a batch that the rule did not plan does not write state laid out by a table") {
    val query = switched()
    TestDecider.change = d => d.copy(route = d.route.copy(groupOf = Map.empty))
    assert(failure { query.start(); query.feed(1) }.contains("KeyRoute did not plan"))
    query.stop()
  }

  test("state and routing tables that do not match are found when a partition is loaded") {
    val query = switched()
    val layout = new CheckpointLayout(
      new Path(query.checkpoint.toString),
      spark.sessionState.newHadoopConf()
    )
    val other = TestTables.random(9L, Workloads.Keys)(TestDesk.started.head)
    new TableStore(layout).put(other)
    val log = new RouteLog(spark, layout)
    val entry = log.entry(4)
    log.drop(4)
    log.commit(entry.copy(tableVersion = 9L, tableHash = other.hash))
    assert(failure { query.start(); query.feed(1) }.contains("state does not match"))
    query.stop()
  }

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

  test("entries go as Spark's do, but for the first") {
    spark.conf.set("spark.sql.streaming.minBatchesToRetain", "2")
    try {
      val query = switched()
      query.start()
      query.feed(3)
      val kept = query.files("routes").map(_.getName.toLong).sorted
      // The first and the one that switched stay.
      assert(kept == Seq(0L, 2L, 5L, 6L, 7L) && query.files("handoff").isEmpty)
      query.stop()
      TestDesk.reset()
      query.start()
      query.feed(1)
      query.stop()
      assert(query.wrong == Nil && TestDesk.started.map(_.sinceBatch) == Seq(2L))
    } finally spark.conf.unset("spark.sql.streaming.minBatchesToRetain")
  }

  test("scenario 10: with checkpoint format 1 a switch waits after a batch with a second attempt") {
    Seq(Storage.plain -> Seq(3L), Storage.rocksDbs.last -> Seq(2L)).foreach {
      case (storage, switches) =>
        TestDesk.reset()
        val query = started(storage, Workloads.failing)
        query.feed(1)
        FailOnce.armed = true
        query.feed(1)
        assert(!FailOnce.armed)
        TestDesk.want(moving)
        query.feed(2)
        query.stop()
        assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == switches)
        assert(TestDesk.postponements.forall(_.contains("several attempts")))
    }
  }

  test(
    "scenario 10: where each batch has second attempts, a switch reads the checkpoint in the end"
  ) {
    withSetting("spark.keyroute.handoff.postponements" -> "2") {
      val query = started(Storage.plain, Workloads.failing)
      query.feed(1)
      (1 to 4).foreach { batch =>
        if (batch == 2) TestDesk.want(moving)
        FailOnce.armed = true
        query.feed(1)
        assert(!FailOnce.armed)
      }
      query.stop()
      assert(query.wrong == Nil && TestDesk.postponements.size == 2)
      assert(TestDesk.postponements.forall(_.contains("several attempts")))
      assert(TestDesk.switches.map(s => (s.batch, s.pulled)) == Seq((4L, true)))
    }
  }

  test("the column that a query is grouped by may get another name") {
    val query = switched()
    query.start(Workloads.renamed)
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.size == 1)
  }

  test("state that a table laid out is found where the route log has lost its end") {
    val query = switched()
    query.files("routes").filter(_.getName != "0").foreach(f => assert(f.delete()))
    assert(failure { query.start(); query.feed(1) }.contains("knows of no routing table"))
    query.stop()
  }

  test("what kept a query on Spark's hash is asked anew by each run without a table") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    withSetting("spark.keyroute.enabled" -> "false") {
      query.start()
      query.feed(2)
      query.stop()
    }
    TestDesk.want(moving)
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(2L))
  }

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

  private def withSetting(setting: (String, String)*)(body: => Unit): Unit = {
    setting.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally setting.foreach { case (key, _) => spark.conf.unset(key) }
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

  test("a switch that does not work is given up after some batches") {
    withSetting(
      "spark.keyroute.handoff.timeoutMs" -> "0",
      "spark.keyroute.handoff.attempts" -> "3"
    ) {
      val query = started(Storage.plain)
      query.feed(1)
      TestDesk.want(moving)
      query.feed(4)
      query.stop()
      assert(query.wrong == Nil && TestDesk.switches.isEmpty)
      assert(TestDesk.postponements.size == 2 && TestDesk.refused.size == 1)
      assert(TestDesk.refused.head.contains("given up after 3 batches: the handoff took too long"))
      assert(query.files("handoff").isEmpty)
    }
  }

  test("what the state's layout forbids stays on Spark's hash, and says why") {
    val reasons = Seq(
      "spark.sql.streaming.stateStore.unloadOnCommit" -> "unloadOnCommit",
      "spark.sql.streaming.stateStore.rowChecksum.enabled" -> "rowChecksum"
    )
    reasons.foreach { case (setting, reason) =>
      TestDesk.reset()
      spark.conf.set(setting, "true")
      try {
        val query = started(Storage.plain)
        TestDesk.want(q => TestTables.random(7L)(q))
        query.feed(2)
        query.stop()
        assert(query.wrong == Nil && TestDesk.started.head.groups.isEmpty)
        assert(TestDesk.started.head.operators.head.reason.exists(_.contains(reason)))
      } finally spark.conf.unset(setting)
    }
  }
}
