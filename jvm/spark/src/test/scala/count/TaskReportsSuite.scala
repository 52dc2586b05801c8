package org.apache.spark.sql.keyroute.count

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkEnv
import org.apache.spark.internal.plugin.SparksPluginContext
import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}
import org.apache.spark.sql.keyroute.route.StreamingTest

import io.keyroute.proto.v1.ReduceTaskReads

class TaskReportsSuite extends AnyFunSuite {
  test("a task that is killed while it sends the first report costs no later one") {
    val spark = StreamingTest.spark
    val received = new ConcurrentLinkedQueue[AnyRef]()
    Using.resource(SparksPluginContext.receiving(SparkEnv.get)(m => received.add(m): Unit)) { _ =>
      TaskReports.connect(SparksPluginContext(SparkEnv.get, spark.sparkContext.getConf))
      try {
        // As Spark kills a task.
        Thread.currentThread().interrupt()
        TaskReports.send(ReduceTaskReads.newBuilder().setPartition(1).build())
        Thread.interrupted()
        TaskReports.send(ReduceTaskReads.newBuilder().setPartition(2).build())
        def partitions: Seq[Int] = received.asScala.toSeq.collect {
          case report: Array[Byte] if report.nonEmpty =>
            ReduceTaskReads.parseFrom(report.tail).getPartition
        }
        eventually(assert(partitions.lastOption.contains(2)))
      } finally {
        Thread.interrupted()
        TaskReports.connect(null)
      }
    }
  }
}
