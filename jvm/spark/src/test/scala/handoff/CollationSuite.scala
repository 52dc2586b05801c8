package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.catalyst.expressions.CollationKey
import org.apache.spark.sql.classic.ExpressionUtils
import org.apache.spark.sql.functions.{col, expr, hash, lit, xxhash64}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Encoders}

/** Keys that are equal without being the same bytes. Spark joins streams by them, and keeps state by
  * them in no other operator. */
class CollationSuite extends SwitchStory {
  import SwitchTest.spark

  private val named = Storage(rocksDb = true, format = 2, changelog = true)

  Seq(
    ("UTF8_LCASE", "upper(rk)", 2, Storage.hdfs),
    ("UNICODE_CI", "upper(rk)", JoinFormats.newest, named),
    ("UTF8_BINARY_RTRIM", "rk || '  '", 3, Storage.plain)
  ).foreach { case (collation, written, format, storage) =>
    val workload = new JoinWorkloads(format).collated(collation, written)
    test(s"${workload.name}, $storage: what is one key moves as one") {
      val entries = spark.createDataset(Workloads.Keys.take(30))(Encoders.STRING)
        .select(xxhash64(ExpressionUtils.column(
          CollationKey(ExpressionUtils.expression(col("value").cast(s"string collate $collation")))
        )))
        .collect().map(_.getLong(0)).toSeq
      thereAndBack(workload, storage, TestTables.ofFingerprints(7L, entries)) {
        (query, tables, _) =>
          assert(tables.groups.map(_.shape.keyTypes) == Seq(Seq("BINARY")))
          Seq("left", "right").foreach { side =>
            val state = spark.read.format("statestore").option("joinSide", side)
              .load(query.checkpoint.toString)
            val key = state.schema("key").dataType.asInstanceOf[StructType].fieldNames.toSeq
              .filter(_.startsWith("field")).map(n => col("key").getField(n))
            val rows = state.select(col("partition_id"), hash(key: _*), xxhash64(key: _*)).collect()
            val table = tables.groups.head
            assert(rows.nonEmpty)
            assert(rows.forall(r => r.getInt(0) == table.route(r.getInt(1), r.getLong(2))), side)
          }
      }
    }
  }

  test("Spark itself keeps no state by such a key elsewhere, nor by a variant") {
    def refused(key: String)(query: DataFrame => DataFrame): String = {
      val workload =
        Workloads.aggregation.copy(query = in => query(in.withColumn("key", expr(key))))
      val e = intercept[Exception] {
        val query = started(Storage.plain, workload)
        try query.feed(1)
        finally query.stop()
      }
      Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString
    }
    val collated = "k collate UTF8_LCASE"
    assert(refused(collated)(_.groupBy("key").agg(lit(1))).contains("BINARY_INEQUALITY"))
    assert(refused(collated)(_.dropDuplicates("key")).contains("BINARY_INEQUALITY"))
    assert(refused("parse_json(k)")(_.groupBy("key").agg(lit(1))).contains("VARIANT"))
  }
}
