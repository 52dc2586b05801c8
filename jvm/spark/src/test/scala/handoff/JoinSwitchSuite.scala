package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.functions.{col, hash, xxhash64}
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.types.StructType

import io.keyroute.core.table.GroupTable

/** Stream-stream joins: all that a key has in both sides' stores and families goes with it, and what
  * waits for a partner or for its end still does. */
class JoinSwitchSuite extends SwitchCells {
  import SwitchTest.spark

  private val off1 = Storage.plain
  private val on1 = off1.copy(changelog = true)
  private val off2 = off1.copy(format = 2)
  private val on2 = on1.copy(format = 2)
  private val hdfs = Storage.hdfs

  private def of(kind: String, format: Int): Workload = new JoinWorkloads(format).of(kind)

  // Spark has outer and semi joins from format 2 on, and formats 3 and 4 in RocksDB only.
  Seq(
    ("inner", 1, off1),
    ("inner", 1, hdfs),
    ("inner", 2, off2),
    ("left_outer", 2, on1),
    ("right_outer", 2, on2),
    ("full_outer", 2, hdfs),
    ("left_semi", 2, hdfs),
    ("inner", 3, off2),
    ("left_outer", 3, off1),
    ("right_outer", 3, off1),
    ("full_outer", 3, on2),
    ("left_semi", 3, on1),
    ("inner", 4, on2),
    ("left_outer", 4, off2),
    ("right_outer", 4, on1),
    ("full_outer", 4, off1),
    ("left_semi", 4, on2)
  ).filter(_._2 <= JoinFormats.newest).foreach { case (kind, format, storage) =>
    val workload = of(kind, format)
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      thereAndBack(workload, storage) { (query, tables, batches) =>
        checkState(query, kind, tables.groups.head, batches)
      }
    }
  }

  /** A checkpoint of state format 1 comes from an old Spark; this one begins none, but in its own
    * tests. */
  override protected def begin(query: TestQuery): Unit = {
    if (query.workload.settings(JoinWorkloads.Format) == "1")
      System.setProperty("spark.testing", "true")
    try super.begin(query)
    finally System.clearProperty("spark.testing")
  }

  /** The state of both sides holds what it must, where the table says. */
  private def checkState(query: TestQuery, kind: String, table: GroupTable, batches: Int): Unit = {
    val model = new JoinModel(kind)
    (0 until batches).foreach(b => model.step(Workloads.batch(b)))
    Seq("left", "right").foreach { side =>
      val state = spark.read.format("statestore").option("joinSide", side)
        .load(query.checkpoint.toString)
      def fields(column: String) =
        state.schema(column).dataType.asInstanceOf[StructType].fieldNames.toSeq
      // Format 4 has a row's time behind the key.
      val key = fields("key").filter(_.startsWith("field")).map(n => col("key").getField(n))
      // Spark drops columns that nobody needs, and may take away the others' new names.
      def value(end: String) = col("value").getField(fields("value").find(_.endsWith(end)).get)
      val rows = state.select(
        col("partition_id"),
        hash(key: _*),
        xxhash64(key: _*),
        value("k"),
        value("ts").cast("long")
      ).collect()
      val wrong = rows.filter(r => r.getInt(0) != table.route(r.getInt(1), r.getLong(2)))
      assert(wrong.isEmpty, side)
      assert(
        rows.map(r => r.getString(3) -> r.getLong(4)).sorted.toSeq ==
          model.kept(side).map(e => e.k -> e.v).sorted,
        side
      )
    }
  }

  Seq(
    (new JoinWorkloads(2).windowed, on1, Seq(1)),
    (new JoinWorkloads(JoinFormats.newest).windowed, off2, Seq(1)),
    (new JoinWorkloads(2).thenSameKey, hdfs, Seq(2)),
    (new JoinWorkloads(3).thenOtherKey, off1, Seq(1, 1)),
    (new JoinWorkloads(2).ofUnion, off2, Seq(1, 1, 1))
  ).foreach { case (workload, storage, operators) =>
    test(s"${workload.name}, $storage: there, on after a restart, and back") {
      thereAndBack(workload, storage) { (_, tables, _) =>
        assert(tables.groups.map(_.shape.operators.size) == operators)
      }
    }
  }

  for ((format, storage) <- Seq((2, on2), (2, hdfs), (JoinFormats.newest, off1)))
    test(s"a batch that switched and failed is run again, files lost: format $format, $storage") {
      val query = new TestQuery(of("full_outer", format), storage)
      begin(query)
      TestDesk.want(TestTables.random(7L, Workloads.Keys))
      query.inSink = batch => if (batch == 2) throw new IllegalStateException("the sink's own")
      intercept[StreamingQueryException](query.feed(1))
      query.stop()
      val files = query.files("handoff/2")
      val stores = if (format == 2) 4 else 1
      assert(files.size == stores * SwitchTest.Partitions)
      files.zipWithIndex.foreach { case (file, i) => if (i % 2 == 0) assert(file.delete()) }
      query.inSink = _ => ()
      query.start()
      query.feed(3)
      query.stop()
      assert(query.wrong == Nil)
      assert(TestDesk.switches.map(s => (s.batch, s.rowsMoved)).distinct.size == 1)
    }

  Seq((2, off1), (2, hdfs), (JoinFormats.newest, on2)).foreach { case (format, storage) =>
    differsUnmoved(of("full_outer", format), storage)
  }

  test("control: with one side's state left behind the results differ") {
    TestDecider.change = SwitchEdits.files(_) { f =>
      if (f.store.startsWith("left")) f else f.copy(segments = Nil)
    }
    val query = new TestQuery(of("inner", 2), off1)
    begin(query)
    TestDesk.want(TestTables.random(7L, Workloads.Keys))
    query.feed(2)
    query.stop()
    assert(TestDesk.switches.nonEmpty && query.wrong.nonEmpty)
  }
}
