package org.apache.spark.sql.keyroute.handoff

import java.io.{File, RandomAccessFile}

import org.apache.spark.sql.streaming.StreamingQueryException

/** Switches in batches that fail and are run again, and those that must wait. */
class SwitchFailureSuite extends SwitchStory {

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

  /** A query without a table, which stopped in batch 2. */
  private def failedInBatch2(storage: Storage): TestQuery = {
    val query = started(storage)
    query.feed(2)
    query.inSink = batch => if (batch == 2) throw new IllegalStateException("the sink's own")
    intercept[StreamingQueryException](query.feed(1))
    query.stop()
    query.inSink = _ => ()
    query
  }

  private def switchesInBatch3(query: TestQuery): Unit = {
    TestDesk.want(moving)
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
    assert(TestDesk.switches.map(_.batch) == Seq(3L))
  }

  Seq(Storage.plain, Storage.hdfs).foreach { storage =>
    test(s"a batch that was begun without a table does not switch when it is run again: $storage") {
      val query = failedInBatch2(storage)
      switchesInBatch3(query)
    }

    test(s"nor one that an older KeyRoute began, which wrote no entry for it: $storage") {
      val query = failedInBatch2(storage)
      query.files("routes").filter(_.getName != "0").foreach(f => assert(f.delete()))
      switchesInBatch3(query)
      assert(TestDesk.postponements.head.contains("may have been begun by an earlier run"))
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
      movedAtStart(query)
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

  test("a switch that does not work is given up after some batches") {
    withSetting(
      "spark.keyroute.handoff.timeoutMs" -> "1",
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
}
