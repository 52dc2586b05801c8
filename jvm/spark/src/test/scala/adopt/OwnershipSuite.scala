package org.apache.spark.sql.keyroute.adopt

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.fs.local.LocalFs
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.{BeforeAndAfterAll, BeforeAndAfterEach}

import org.apache.spark.sql.keyroute.handoff._
import org.apache.spark.sql.keyroute.plugin.SparkSettings
import org.apache.spark.sql.streaming.StreamingQueryException

/** A query of Spark alone is taken over, switched, and given back; each batch as Spark alone would
  * have it. */
class OwnershipSuite extends AnyFunSuite with BeforeAndAfterAll with BeforeAndAfterEach {
  import SwitchTest.spark

  /** Every file that Spark and Hadoop put beside a checkpoint's own is there. */
  override protected def beforeAll(): Unit = {
    spark.conf.set("fs.AbstractFileSystem.file.impl", classOf[LocalFs].getName)
    spark.conf.set("spark.sql.streaming.checkpoint.fileChecksum.enabled", true)
  }

  override protected def beforeEach(): Unit = {
    TestDesk.reset()
    TestDecider.change = identity
  }

  private def owner(query: TestQuery) =
    new Ownership(
      new Path(query.checkpoint.toString),
      new Configuration(),
      () => System.currentTimeMillis()
    )

  private def adopt(query: TestQuery) = owner(query).adopt(0, Set.empty)
  private def release(query: TestQuery) = owner(query).release(0, Set.empty)
  private def refused(body: => Any): String = intercept[OwnershipRefused](body).getMessage
  private val moving = TestTables.random(7L, Workloads.Keys) _

  for {
    workload <- Seq(Workloads.aggregation, Workloads.deduplication)
    storage <- Seq(Storage.rocksDbs.head, Storage.rocksDbs.last, Storage.hdfs)
  } test(s"${workload.name}, $storage: adopted, switched, released, and adopted again") {
    val query = new TestQuery(workload, storage.ofSpark)
    query.start()
    query.feed(2)
    query.stop()
    val taken = adopt(query)
    assert(taken.batch == 1 && taken.to == storage.provider && Files.exists(path(taken.backup)))
    assert(Files.exists(query.checkpoint.resolve("offsets/.1.crc")), "as users have it")

    query.start()
    TestDesk.want(moving)
    query.feed(2)
    query.stop()
    assert(
      TestDesk.switches.map(_.toVersion) == Seq(7L),
      TestDesk.postponements ++ TestDesk.refused
    )
    assert(refused(release(query)).contains("routing tables 7 are in force"))
    assert(refused(adopt(query)).contains("KeyRoute's already"))

    TestDesk.want(TestTables.empty(8L))
    query.start()
    query.feed(2)
    query.stop()
    assert(TestDesk.switches.map(_.toVersion) == Seq(7L, 8L))
    assert(release(query).to == storage.ofSpark.provider)

    TestDesk.wantNothing()
    query.start()
    query.feed(2)
    query.stop()
    assert(refused(release(query)).contains("not KeyRoute's"))
    adopt(query)
    query.start()
    TestDesk.want(TestTables.random(9L, Workloads.Keys))
    query.feed(3)
    query.stop()
    assert(TestDesk.switches.map(_.toVersion) == Seq(7L, 8L, 9L))
    assert(query.wrong == Nil)
  }

  test("released, repartitioned offline by Spark, and adopted: routed over the new partitions") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    query.start()
    query.feed(2)
    TestDesk.want(moving)
    query.feed(1)
    TestDesk.want(TestTables.empty(8L))
    query.feed(2)
    query.stop()
    TestDesk.wantNothing()
    release(query)
    val wider = SwitchTest.Partitions + 2
    spark.streamingCheckpointManager.repartition(query.checkpoint.toString, wider, false)
    adopt(query)
    query.start()
    query.feed(1)
    assert(TestDesk.started.exists(_.groups.map(_.partitions) == Seq(wider)))
    TestDesk.want(TestTables.random(9L, Workloads.Keys))
    query.feed(2)
    query.stop()
    assert(TestDesk.switches.map(_.toVersion) == Seq(7L, 8L, 9L), TestDesk.postponements)
    // Repartitioning was a batch of its own.
    query.batches.toSeq.filter(_._1 > 5).foreach { case (batch, rows) =>
      query.batches.remove(batch)
      query.batches(batch - 1) = rows
    }
    assert(query.wrong == Nil)
  }

  test("adopted but not started is released again; a copy without the mark is refused") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain.ofSpark)
    query.start()
    query.feed(2)
    query.stop()
    adopt(query)
    release(query)
    query.start()
    query.feed(1)
    query.stop()
    adopt(query)
    assert(query.file("adopted").delete())
    val error = intercept[StreamingQueryException] { query.start(); query.feed(1) }
    assert(error.getMessage.contains("has no route log"))
    query.stop()
  }

  test("after a first batch the route log must be there, whatever the mark of the adoption says") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain.ofSpark)
    query.start()
    query.feed(1)
    query.stop()
    adopt(query)
    query.start()
    TestDesk.want(moving)
    query.feed(3)
    query.stop()
    query.files("routes").foreach(f => assert(f.delete()))
    val error = intercept[StreamingQueryException] { query.start(); query.feed(1) }
    assert(error.getMessage.contains("has no route log"))
    query.stop()
  }

  test("a query that may be running, or whose switch back is not committed, is refused") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    query.start()
    query.feed(2)
    assert(refused(owner(query).release(3600000, Set.empty)).contains("may be running"))
    val id = TestDesk.started.head.queryId.toString
    assert(refused(owner(query).release(0, Set(id))).contains("runs: stop it"))
    TestDesk.want(moving)
    query.feed(1)
    TestDesk.want(TestTables.empty(8L))
    query.inSink = batch => if (batch == 3) throw new IllegalStateException("the sink's own")
    intercept[StreamingQueryException](query.feed(1))
    query.stop()
    assert(refused(release(query)).contains("is its newest"))
    query.inSink = _ => ()
    query.start()
    spark.streams.active.foreach(_.processAllAvailable())
    assert(refused(release(query)).contains("is its newest"))
    query.feed(1)
    query.stop()
    release(query)
    TestDesk.wantNothing()
    query.start()
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil)
  }

  test("what is no checkpoint, or has a provider that is not Spark's, is refused") {
    val empty = new Ownership(
      new Path(Files.createTempDirectory("keyroute-empty").toString),
      new Configuration(),
      () => System.currentTimeMillis()
    )
    assert(refused(empty.adopt(0, Set.empty)).contains("no offset log"))
    val folder = Files.createTempDirectory("keyroute-foreign")
    Files.createDirectory(folder.resolve("offsets"))
    Files.writeString(
      folder.resolve("offsets/3"),
      s"""v1\n{"conf":{"${SparkSettings.providerKey}":"com.example.Provider"}}\n{}"""
    )
    val foreign =
      new Ownership(
        new Path(folder.toString),
        new Configuration(),
        () => System.currentTimeMillis()
      )
    assert(refused(foreign.adopt(0, Set.empty)).contains("com.example.Provider"))
    assert(refused(foreign.release(0, Set.empty)).contains("not KeyRoute's"))
  }

  private def path(hadoop: Path) = java.nio.file.Path.of(hadoop.toUri.getPath)
}
