package org.apache.spark.sql.keyroute.handoff

import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.scalatest.concurrent.Eventually
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.keyroute.plugin.ProviderTwinListener
import org.apache.spark.sql.{ForeachWriter, Row}

/** Real-time mode keeps its operators running side by side: it stays on Spark's hash. Older Sparks have
  * it without state only. */
class RealTimeSuite extends SwitchStory with Eventually {
  import SwitchTest.spark

  test("a query in real-time mode") {
    TestDesk.want(moving)
    val input = {
      import spark.implicits._
      LowLatencyMemoryStream.singlePartition[Event](spark)
    }
    val checkpoint = Files.createTempDirectory("keyroute-checkpoint")
    val events = Workloads.batch(0) ++ Workloads.batch(1)
    val keys = events.map(_.k).distinct.sorted
    withSetting(
      // Spark refuses any other provider, by its name, before it plans anything.
      Storage.rocksDbs.last.ofSpark.settings.toSeq ++ Seq(
        // A task for each operator, all at the same time.
        "spark.sql.shuffle.partitions" -> "1",
        "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1000"
      ): _*
    ) {
      val listener = new ProviderTwinListener
      spark.streams.addListener(listener)
      val query = input.toDF().select("k").dropDuplicates("k").writeStream
        .foreach(new RealTimeRows).outputMode("update")
        .option("checkpointLocation", checkpoint.toString)
        .trigger(RealTimeTrigger(1000L))
        .start()
      try {
        input.addData(events)
        eventually(timeout(Span(60, Seconds))) {
          query.exception.foreach(throw _)
          assert(RealTimeRows.all.size >= keys.size)
        }
        query.processAllAvailable()
      } finally {
        query.stop()
        spark.streams.removeListener(listener)
      }
    }
    assert(RealTimeRows.all.asScala.toSeq.sorted == keys)
    assert(TestDesk.started.nonEmpty && TestDesk.switches.isEmpty)
    assert(TestDesk.started.forall(_.groups.isEmpty))
    assert(TestDesk.started.flatMap(_.operators.flatMap(_.reason)).distinct ==
      Seq("it runs in real-time mode"))
    // The checkpoint does not need our jar.
    assert(Files.readString(checkpoint.resolve("offsets").resolve("0"))
      .contains(Storage.plain.ofSpark.provider))
  }
}

/** Keeps rows in the process: of the sinks that real-time mode allows, one that a test can read. */
final class RealTimeRows extends ForeachWriter[Row] {
  override def open(partition: Long, batch: Long): Boolean = true
  override def process(row: Row): Unit = RealTimeRows.all.add(row.getString(0)): Unit
  override def close(errorOrNull: Throwable): Unit = ()
}

object RealTimeRows {
  val all = new ConcurrentLinkedQueue[String]()
}
