package org.apache.spark.sql.keyroute.handoff

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.{Files, Path}
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}

import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  NoPrefixKeyStateEncoderSpec,
  StateStore,
  StateStoreConf,
  StateStoreId
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.keyroute.adopt.Ownership
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.Utils

import io.keyroute.core.table.{ContentHash, TableCodec}
import io.keyroute.proto.v1.{RoutingTables => RoutingTablesProto}

/** Checkpoints that people have handled: rolled back beyond an adoption, copied elsewhere, written by
  * a KeyRoute that is newer. */
class RestoredCheckpointSuite extends SwitchStory {
  import SwitchTest.spark

  private def adopt(query: TestQuery): Unit =
    new Ownership(
      new HadoopPath(query.checkpoint.toString),
      new Configuration(),
      () => System.currentTimeMillis()
    ).adopt(0, Set.empty): Unit

  /** Runs 0 and 1 by Spark alone, 2 adopted, 3 and 4 under a table. */
  private def adoptedAndSwitched(storage: Storage = Storage.plain): TestQuery = {
    val query = started(storage.ofSpark, fromFiles = true)
    query.feed(2)
    query.stop()
    adopt(query)
    query.start()
    query.feed(1)
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    assert(TestDesk.switches.map(_.batch) == Seq(3L) && query.wrong == Nil)
    query
  }

  private def rollBack(query: TestQuery, to: Long): Unit = {
    for {
      folder <- Seq("offsets", "commits")
      file <- query.checkpoint.resolve(folder).toFile.listFiles()
      batch <- file.getName.stripPrefix(".").takeWhile(_ != '.').toLongOption if batch >= to
    } assert(file.delete())
    query.batches --= (to to 4L)
  }

  /** The newest row of each key. What was rolled back comes again, in whatever batches. */
  private def assertTotals(query: TestQuery, batches: Int): Unit = {
    val wanted = (0 until batches).flatMap(Workloads.batch).groupBy(_.k)
      .map { case (k, es) => s"[$k,${es.size},${es.map(_.v).sum}]" }
    val last = query.batches.toSeq.flatMap(_._2).map(row => row.takeWhile(_ != ',') -> row).toMap
    assert(last.values.toSet == wanted.toSet)
  }

  /** Entries that went aside. */
  private def aside(query: TestQuery): Seq[Long] =
    query.files("aside").map(_.getName.split('-')).collect { case Array("routes", b, _) =>
      b.toLong
    }
      .sorted

  Seq(4L, 3L, 2L).foreach { to =>
    test(s"rolled back to batch $to, after the adoption: KeyRoute goes on") {
      val query = adoptedAndSwitched()
      rollBack(query, to)
      query.start()
      query.feed(1)
      TestDesk.want(TestTables.random(8L, Workloads.Keys))
      query.feed(2)
      query.stop()
      assertTotals(query, 8)
      assert(aside(query) == (to to 4L))
      assert(TestDesk.switches.last.fromVersion == (if (to == 4) 7L else 0L))
      assert(TestDesk.switches.last.toVersion == 8L)
    }
  }

  Seq(true, false).foreach { runs =>
    test("rolled back beyond the adoption: Spark's own again, and adopted again " +
      (if (runs) "later" else "at once")) {
      val query = adoptedAndSwitched()
      rollBack(query, 1)
      if (runs) {
        TestDesk.reset()
        query.start(on = Storage.plain)
        query.feed(1)
        query.stop()
        assert(TestDesk.started.flatMap(_.bypass).exists(_.contains("keyroute adopt")))
        assert(aside(query) == Seq(2L, 3L, 4L))
      }
      adopt(query)
      query.start()
      query.feed(1)
      TestDesk.want(TestTables.random(8L, Workloads.Keys))
      query.feed(2)
      query.stop()
      assertTotals(query, if (runs) 9 else 8)
      val last = TestDesk.switches.last
      assert((last.fromVersion, last.toVersion) == (0L, 8L) && last.rowsMoved > 0)
    }
  }

  test("rolled back behind a snapshot: none of the other timeline is taken for one of this") {
    val query = started(Storage.hdfs, fromFiles = true)
    query.feed(2)
    TestDesk.want(moving)
    query.feed(3)
    query.stop()
    TestDesk.wantNothing()
    (0 until SwitchTest.Partitions).foreach(snapshot(query, 5, _))
    rollBack(query, 3)
    query.start()
    query.feed(1)
    TestDesk.want(TestTables.random(8L, Workloads.Keys))
    query.feed(3)
    query.stop()
    // From the files, as after the loss of an executor.
    StateStore.stop()
    query.start()
    query.feed(1)
    query.stop()
    assertTotals(query, 10)
    val aside = query.files("aside").map(_.getName)
    assert(aside.count(_.matches(raw"state-0-\d-5\.snapshot-\d+")) == SwitchTest.Partitions)
    val table = query.table(TestTables.random(8L, Workloads.Keys)(TestDesk.started.last))
    assert(query.misplaced(table, None)._1.isEmpty)
  }

  Seq(true, false).foreach { again =>
    test("nor where it is rolled back beyond the adoption, " +
      (if (again) "and adopted again" else "and runs as Spark's own")) {
      val query = adoptedAndSwitched(Storage.hdfs)
      (0 until SwitchTest.Partitions).foreach(snapshot(query, 5, _))
      rollBack(query, 1)
      if (again) adopt(query)
      query.start()
      val more = Iterator.continually(query.feed(1)).takeWhile(_ => query.batches.lastKey < 4).size
      query.stop()
      // The next batch begins with version 5, from its snapshot if there is one.
      StateStore.stop()
      query.start()
      query.feed(1)
      query.stop()
      assertTotals(query, 5 + more + 2)
    }
  }

  /** Writes what Spark's maintenance would. */
  private def snapshot(query: TestQuery, version: Long, partition: Int): Unit = {
    val folder = query.checkpoint.resolve(s"state/0/$partition")
    val key = StructType.fromDDL("k STRING")
    val conf = spark.sessionState.conf.clone()
    conf.setConfString(SQLConf.STATE_STORE_MIN_DELTAS_FOR_SNAPSHOT.key, "1")
    val hadoop = new Configuration()
    hadoop.set(StreamExecution.RUN_ID_KEY, UUID.randomUUID().toString)
    val maintained = new HDFSBackedStateStoreProvider
    maintained.init(
      StateStoreId(query.checkpoint.resolve("state").toString, 0, partition),
      key,
      StructType.fromDDL("n LONG, s LONG"),
      NoPrefixKeyStateEncoderSpec(key),
      useColumnFamilies = false,
      new StateStoreConf(conf),
      hadoop
    )
    maintained.getStore(version).abort()
    maintained.doMaintenance()
    maintained.close()
    assert(Files.exists(folder.resolve(s"$version.snapshot")))
  }

  test("a copy of the whole checkpoint goes on where the original is gone") {
    val query = started(Storage.plain)
    query.feed(2)
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    val copy = Files.createTempDirectory("keyroute-copy").resolve("checkpoint")
    copied(query.checkpoint, copy)
    Utils.deleteRecursively(query.checkpoint.toFile)
    query.checkpoint = copy
    query.start()
    query.feed(1)
    TestDesk.want(TestTables.empty(8L))
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
    assert(TestDesk.switches.map(s => (s.batch, s.toVersion)) == Seq((2L, 7L), (5L, 8L)))
  }

  private def copied(from: Path, to: Path): Unit = {
    val all = Files.walk(from)
    try all.forEach(p => Files.copy(p, to.resolve(from.relativize(p).toString)): Unit)
    finally all.close()
  }

  test("a route entry of a newer format is refused: this version does not know what it means") {
    val query = switched()
    val newest = query.files("routes").maxBy(_.getName.toLong).toPath
    val kept = Files.readAllBytes(newest)
    val rest = kept.dropWhile(_ != '\n'.toByte)
    Files.write(newest, "keyroute route entry 2".getBytes(US_ASCII) ++ rest)
    val words = failure { query.start(); query.feed(1) }
    query.stop()
    assert(words.contains("has format 2") && words.contains("use that version or newer"))
    Files.write(newest, kept)
    query.start()
    query.feed(1)
    query.stop()
    assert(query.wrong.filter(_ < 6) == Nil)
  }

  test("tables of a newer format are refused") {
    val query = switched()
    val layout = new CheckpointLayout(
      new HadoopPath(query.checkpoint.toString),
      spark.sessionState.newHadoopConf()
    )
    val tables = TableCodec.encode(moving(TestDesk.started.head))
    val newer = RoutingTablesProto.parseFrom(tables).toBuilder.setFormat(2).build().toByteArray
    val hash = ContentHash.sha256(newer)
    Files.write(query.file("tables").toPath.resolve(s"7-${hash.take(12)}"), newer)
    val log = new RouteLog(spark, layout)
    val entry = log.entry(4)
    log.drop(4)
    log.commit(entry.copy(tableHash = hash))
    val words = failure { query.start(); query.feed(1) }
    query.stop()
    assert(words.contains("routing tables 7 cannot be read") && words.contains("has format 2"))
  }

  test("handoff files of a newer format are made again: they are a cache") {
    val query = started(Storage.plain)
    query.feed(2)
    TestDesk.want(moving)
    query.inSink = batch => if (batch == 2) throw new IllegalStateException("the sink's own")
    intercept[StreamingQueryException](query.feed(1))
    query.stop()
    val formats = query.files("handoff/2").map { file =>
      val bytes = Files.readAllBytes(file.toPath)
      val old = bytes(7)
      bytes(7) = 2 // the low byte of the format
      // Nobody knows what a newer body is like: read as today's, it must not do.
      Files.write(file.toPath, bytes.take(8) ++ bytes.drop(8).map(b => (~b).toByte))
      old
    }
    assert(formats == Seq.fill(SwitchTest.Partitions)(HandoffWriter.Format.toByte))
    query.inSink = _ => ()
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
    assert(TestDesk.switches.map(s => (s.batch, s.rowsMoved)).distinct.size == 1)
  }
}
