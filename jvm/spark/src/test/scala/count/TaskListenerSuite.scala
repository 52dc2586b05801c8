package org.apache.spark.sql.keyroute.count

import java.nio.file.Files
import java.util.UUID
import java.util.concurrent.ConcurrentLinkedQueue

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}

class TaskListenerSuite extends AnyFunSuite {
  test("a real query's batches, bytes and end are seen") {
    val spark = SparkSession.builder().master("local[1]").appName("listener")
      .config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
      .config("spark.driver.bindAddress", "127.0.0.1").config("spark.sql.shuffle.partitions", "1")
      .config("spark.sql.warehouse.dir", Files.createTempDirectory("warehouse").toString)
      .getOrCreate()
    val ended = new ConcurrentLinkedQueue[UUID]()
    val collector = new StatisticsCollector(
      History(1000, 2),
      () => System.currentTimeMillis(),
      (_, _, _) => ()
    )
    val events = new ClusterEvents {
      override def batchEnded(runId: UUID, batch: Long, inputRows: Long, durationMs: Long): Unit =
        collector.batchEnded(runId, batch, inputRows, durationMs)
      override def queryEnded(runId: UUID): Unit = {
        ended.add(runId)
        ()
      }
    }
    spark.sparkContext.addSparkListener(new TaskListener(collector, events))
    try {
      val query = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 10).load()
        .groupBy(col("value") % 3).count()
        .writeStream.format("noop").outputMode("update")
        .option("checkpointLocation", Files.createTempDirectory("checkpoint").toString).start()
      collector.started(Reports.query(query.id, query.runId))
      eventually {
        val batch = collector.batches(query.runId).find(_.getLocalBytes > 0)
        assert(batch.exists(b => b.getInputRows == 10 && b.getDurationMs > 0))
        assert(batch.get.getRemoteBytes == 0)
      }
      query.stop()
      eventually(assert(ended.contains(query.runId)))
    } finally spark.stop()
  }
}
