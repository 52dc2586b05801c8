package org.apache.spark.sql.keyroute.handoff

import java.nio.file.Files
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream
import org.apache.spark.sql.{ForeachWriter, Row}

/** Real-time mode keeps its operators running side by side: it stays on Spark's hash. */
class RealTimeSuite extends SwitchStory {
  import SwitchTest.spark

  test("a query in real-time mode") {
    TestDesk.want(moving)
    val input = {
      import spark.implicits._
      LowLatencyMemoryStream.singlePartition[Event](spark)
    }
    val events = Workloads.batch(0) ++ Workloads.batch(1)
    withSetting(
      Storage.rocksDbs.last.settings.toSeq ++ Seq(
        // A task for each operator, all at the same time.
        "spark.sql.shuffle.partitions" -> "1",
        "spark.sql.streaming.realTimeMode.minBatchDuration" -> "1000"
      ): _*
    ) {
      val query = input.toDF().select("k").dropDuplicates("k").writeStream
        .foreach(new RealTimeRows).outputMode("update")
        .option("checkpointLocation", Files.createTempDirectory("keyroute-checkpoint").toString)
        .trigger(RealTimeTrigger(1000L))
        .start()
      try {
        input.addData(events)
        query.processAllAvailable()
      } finally query.stop()
    }
    val rows = RealTimeRows.all.asScala.toSeq
    assert(rows.sorted == events.map(_.k).distinct.sorted)
    assert(TestDesk.started.nonEmpty && TestDesk.switches.isEmpty)
    assert(TestDesk.started.forall(_.groups.isEmpty))
    assert(TestDesk.started.flatMap(_.operators.flatMap(_.reason)).distinct ==
      Seq("it runs in real-time mode"))
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
