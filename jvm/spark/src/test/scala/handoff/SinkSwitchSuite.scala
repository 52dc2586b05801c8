package org.apache.spark.sql.keyroute.handoff

import java.nio.file.Files
import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.streaming.Trigger
import org.apache.spark.sql.{DataFrame, Row}

/** Switches under what Spark can do with a batch: files, memory, several actions at once; and in a
  * batch that has no rows. */
class SinkSwitchSuite extends SwitchStory {
  import SwitchTest.spark

  private val named = Storage(rocksDb = true, format = 2, changelog = true)

  test("a file sink, batches by the clock: on after a restart, each row once") {
    val query = new TestQuery(Workloads.deduplication, Storage.plain)
    val folder = Files.createTempDirectory("keyroute-sink").toString
    def start() = query.start(into =
      _.format("parquet").option("path", folder).trigger(Trigger.ProcessingTime(50L))
    )
    start()
    query.feed(2)
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    start()
    query.feed(2)
    query.stop()
    assert(TestDesk.switches.map(_.batch) == Seq(2L) && TestDesk.switches.head.rowsMoved > 0)
    assert(rows(spark.read.parquet(folder)) == query.allRows.sorted)
  }

  test("a memory sink: each row once") {
    val query = new TestQuery(Workloads.deduplication, Storage.hdfs)
    query.start(into = _.format("memory").queryName("switched"))
    query.feed(2)
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    assert(TestDesk.switches.map(_.batch) == Seq(2L) && TestDesk.switches.head.rowsMoved > 0)
    assert(rows(spark.table("switched")) == query.allRows.sorted)
  }

  private def rows(frame: DataFrame): Seq[String] =
    frame.collect().map(_.toString).toSeq.sorted

  // Two tasks of one partition then run at once, or one after the other. In format 2 each leaves a
  // version of its own, and only one of them is the batch's: it is read from the checkpoint in the end.
  Seq(Storage.plain -> false, named -> true, Storage.hdfs -> false).foreach {
    case (storage, late) =>
      test(s"several threads act on the batch's frame at once and see the same: $storage") {
        val query = new TestQuery(Workloads.aggregation, storage)
        val pool = Executors.newFixedThreadPool(3)
        query.look = frame => {
          val looks = (1 to 3).map(_ => (() => frame.collect().toSeq): Callable[Seq[Row]])
          val seen = pool.invokeAll(looks.asJava).asScala.map(_.get())
          assert(seen.map(_.map(_.toString).sorted).distinct.size == 1)
          seen.head
        }
        try {
          begin(query)
          TestDesk.want(moving)
          query.feed(5)
          query.stop()
          TestDesk.wantNothing()
          query.start()
          query.feed(1)
          query.stop()
        } finally pool.shutdown()
        assert(query.wrong == Nil)
        val (switch, reasons) = (TestDesk.switches.head, TestDesk.postponements)
        assert(TestDesk.switches.size == 1 && switch.rowsMoved > 0)
        assert(if (late) switch.batch <= 5 else switch.batch == 2, reasons)
        assert(reasons.forall(_.contains("is not loaded")))
      }
  }

  Seq(Storage.plain, Storage.hdfs).foreach { storage =>
    test(s"a batch without data switches, and tells what is over: $storage") {
      val query = new TestQuery(TimedWorkloads.windows("append"), storage)
      withSetting("spark.sql.streaming.noDataMicroBatches.enabled" -> "true") {
        query.start(): Unit
      }
      // Each batch moves the watermark, and one without data follows. The fourth ends windows.
      query.feed(3)
      query.inSink = batch => if (batch == 6) TestDesk.want(moving)
      query.feed(4)
      query.stop()
      assert(TestDesk.switches.map(_.batch) == Seq(7L) && TestDesk.switches.head.rowsMoved > 0)
      val over = for {
        ((k, window), events) <- (0 to 6)
          .flatMap(b => Workloads.batch(b).filter(_.v % 3 != 0).map(e => (e.k, b / 3) -> e.v))
          .groupMap(_._1)(_._2) if window < 2
      } yield s"[${3600 + 180 * window},$k,${events.sum}]"
      assert(query.batches.values.flatten.toSeq.sorted == over.toSeq.sorted)
      assert(query.batches(7).nonEmpty && query.batches.filter(_._2.nonEmpty).keys.toSeq == Seq(
        7L,
        13L
      ))
      val table = query.table(moving(TestDesk.started.head))
      val (elsewhere, left) = query.misplaced(table, None)
      assert(elsewhere.isEmpty && left > 0)
    }
  }
}
