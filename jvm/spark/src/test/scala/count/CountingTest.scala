package org.apache.spark.sql.keyroute.count

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import com.codahale.metrics.MetricRegistry
import org.scalatest.BeforeAndAfterAll
import org.scalatest.concurrent.Eventually.{eventually, interval, timeout}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.SpanSugar._

import org.apache.spark.SparkConf
import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.resource.ResourceInformation
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.keyroute.route.{RoutedExchangeExec, StreamingTest}
import org.apache.spark.sql.streaming.OutputMode

import io.keyroute.proto.v1.{MapTaskCounts, PairSketch, ReduceTaskReads}

/** Tests of what map and reduce tasks report, mostly for chains of two operators: op 1 by `k`, op 0
  * downstream. */
trait CountingTest extends AnyFunSuite with BeforeAndAfterAll {
  import CountingTest._
  import StreamingTest._

  protected val feeds: Seq[Seq[Seq[Event]]] = (0 until 2).map(b => Seq(events(b)))
  protected val twoDedups = (frame: DataFrame) =>
    frame.dropDuplicates("k").withColumn("w", col("v") % 10).dropDuplicates("k", "w")

  override protected def beforeAll(): Unit = TaskReports.connect(Driver)
  override protected def afterAll(): Unit = TaskReports.connect(null)

  /** Runs a query and waits for all its reports: a task's listeners run before Spark counts it as
    * ended, but not before the batch's last job does. */
  protected def counted(
      settings: Map[String, String] = Map.empty,
      tables: String = "random",
      mode: OutputMode = OutputMode.Update()
  )(query: DataFrame => DataFrame): (Run, Seq[MapTaskCounts]) = {
    Driver.received.clear()
    val run = streamed(tables, feeds, mode, settings)(s => query(s.head))
    val written = run.nodes { case e: RoutedExchangeExec =>
      e.metrics("shuffleRecordsWritten").value
    }.sum
    eventually(timeout(10.seconds), interval(20.millis)) {
      assert(rows(Driver.maps) == written)
    }
    (run, Driver.maps)
  }

  protected def rows(counts: Seq[MapTaskCounts]): Long =
    counts.flatMap(_.getPartitionRowsList.asScala).map(_.longValue).sum

  /** Rows of each pair (upstream fingerprint, downstream fingerprint). */
  protected def rowsOfPairs(sketches: Seq[PairSketch]): Map[(Long, Long), Long] =
    sketches.flatMap { p =>
      p.getUpstreamList.asScala.map(_.longValue).zip(p.getDownstreamList.asScala.map(_.longValue))
        .zip(p.getCountsList.asScala.map(_.longValue))
    }.groupMapReduce(_._1)(_._2)(_ + _)
}

object CountingTest {

  /** Stands for the driver's side. */
  object Driver extends PluginContext {
    val received = new ConcurrentLinkedQueue[Array[Byte]]()
    @volatile var reachable: Boolean = true

    private def ofKind(kind: Byte): Seq[Array[Byte]] =
      received.asScala.toSeq.filter(_.headOption.contains(kind)).map(_.tail)

    def maps: Seq[MapTaskCounts] = ofKind(TaskReports.MapCounts).map(MapTaskCounts.parseFrom)
    def reads: Seq[ReduceTaskReads] = ofKind(TaskReports.ReduceReads).map(ReduceTaskReads.parseFrom)

    override def send(message: AnyRef): Unit = message match {
      case _ if !reachable => throw new IllegalStateException("the driver's endpoint is not known")
      case bytes: Array[Byte] => received.add(bytes): Unit
      case other => throw new IllegalArgumentException(s"not a report: $other")
    }
    override def executorID(): String = "driver"
    override def ask(message: AnyRef): AnyRef = null
    override def metricRegistry(): MetricRegistry = new MetricRegistry
    override def conf(): SparkConf = new SparkConf(false)
    override def hostname(): String = "localhost"
    override def resources(): java.util.Map[String, ResourceInformation] = java.util.Map.of()
  }
}
