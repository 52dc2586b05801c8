package org.apache.spark.sql.keyroute.count

import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.{Properties, UUID}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.executor.{ExecutorMetrics, TaskMetrics}
import org.apache.spark.scheduler._
import org.apache.spark.scheduler.cluster.ExecutorInfo
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}
import org.apache.spark.sql.keyroute.route.StreamingTest
import org.apache.spark.storage.BlockManagerId
import org.apache.spark.{Success, TaskKilled, TaskResultLost}

class TaskListenerSuite extends AnyFunSuite {
  private object NoEvents extends ClusterEvents {
    override def batchEnded(run: UUID, batch: Long, rows: Long, ms: Long): Unit = ()
    override def queryEnded(run: UUID): Unit = ()
  }

  test("a real query's batches, bytes and end are seen") {
    val spark = StreamingTest.spark
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
    val listener = new TaskListener(collector, events)
    spark.sparkContext.addSparkListener(listener)
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
    } finally spark.sparkContext.removeSparkListener(listener)
  }

  test("an executor's host and zone are those of its events, until it is lost") {
    val f = new CollectorFixture
    val listener = new TaskListener(f.collector, NoEvents)
    val id = BlockManagerId("1", "host-1", 7, Some("zone-1"))
    listener.onExecutorAdded(SparkListenerExecutorAdded(
      0,
      "1",
      new ExecutorInfo("host-1", 1, Map.empty, Map.empty)
    ))
    listener.onBlockManagerAdded(SparkListenerBlockManagerAdded(0, id, 1))
    f.read(0, "1", "1")
    f.settle()
    def seen: Set[(String, String)] =
      f.statistics.getPlacementList.asScala.map(p => (p.getHost, p.getZone)).toSet
    assert(seen == Set(("host-1", "zone-1")))
    listener.onExecutorRemoved(SparkListenerExecutorRemoved(0, "1", "lost"))
    listener.onExecutorAdded(SparkListenerExecutorAdded(
      0,
      "1",
      new ExecutorInfo("host-2", 1, Map.empty, Map.empty)
    ))
    f.read(1, "1", "1")
    f.settle()
    assert(seen == Set(("host-2", "")))
  }

  test("the bytes of an attempt that failed or was killed are not counted") {
    val collector = new StatisticsCollector(History(1000, 2), () => 0L, (_, _, _) => ())
    val query = Reports.query()
    collector.started(query)
    val listener = new TaskListener(collector, NoEvents)
    val properties = new Properties
    properties.setProperty("sql.streaming.queryId", query.queryId.toString)
    properties.setProperty("streaming.sql.batchId", "0")
    val stage = new StageInfo(7, 0, "s", 3, Nil, Nil, "", resourceProfileId = 0)
    listener.onStageSubmitted(SparkListenerStageSubmitted(stage, properties))
    Seq(Success, TaskKilled("another attempt succeeded"), TaskResultLost).foreach { reason =>
      val metrics = new TaskMetrics
      metrics.shuffleReadMetrics.incLocalBytesRead(10)
      metrics.shuffleReadMetrics.incRemoteBytesRead(3)
      listener.onTaskEnd(SparkListenerTaskEnd(
        7,
        0,
        "ResultTask",
        reason,
        null,
        new ExecutorMetrics,
        metrics
      ))
    }
    collector.batchEnded(query.runId, 0, 1, 1)
    collector.batchEnded(query.runId, 1, 1, 1)
    val bytes = collector.query(query.queryId).get.getPeriods(0)
    assert((bytes.getLocalBytes, bytes.getRemoteBytes) == (10L, 3L))
  }
}
