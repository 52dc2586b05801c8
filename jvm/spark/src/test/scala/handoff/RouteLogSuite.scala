package org.apache.spark.sql.keyroute.handoff

import java.io.File
import java.nio.file.{Files, StandardCopyOption}

import org.apache.hadoop.fs.Path

import org.apache.spark.util.Utils

/** What the route log holds a query to: another timeline, a lost folder, a second driver, state that
  * does not match. */
class RouteLogSuite extends SwitchStory {
  import SwitchTest.spark

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
      val aside = query.files("aside").map(_.getName.split('-')).filter(_.head == "routes")
      assert(aside.map(_(1).toLong) == (to to 4L).toSeq)
      assert(query.files("routes").map(_.getName.toLong).contains(to))
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

  Seq(true, false).foreach { tables =>
    val in = if (tables) "with a table" else "without one"
    test(s"scenario 24: a route entry that another driver wrote stops the query, $in") {
      stoppedByAnother(tables)
    }
  }

  private def stoppedByAnother(tables: Boolean): Unit = {
    val query = started(Storage.plain)
    if (tables) TestDesk.want(moving)
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

  test("state that a table laid out is found where the route log has lost its end") {
    val query = switched()
    query.files("routes").filter(_.getName != "0").foreach(f => assert(f.delete()))
    assert(failure { query.start(); query.feed(1) }.contains("knows of no routing table"))
    query.stop()
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

  test("so do those of a query without a table") {
    withSetting("spark.sql.streaming.minBatchesToRetain" -> "2") {
      val query = started(Storage.plain)
      query.feed(6)
      query.stop()
      assert(query.files("routes").map(_.getName.toLong).sorted == Seq(0L, 3L, 4L, 5L))
    }
  }

  test("an entry of another batch under a batch's name is refused") {
    val query = switched()
    val of = query.files("routes").map(f => f.getName.toLong -> f.toPath).toMap
    Files.copy(of(3), of(4), StandardCopyOption.REPLACE_EXISTING)
    Files.deleteIfExists(of(4).resolveSibling(".4.crc"))
    assert(failure { query.start(); query.feed(1) }.contains("that of another batch"))
    query.stop()
  }

  test("the column that a query is grouped by may get another name") {
    val query = switched()
    query.start(Workloads.renamed)
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.size == 1)
  }
}
