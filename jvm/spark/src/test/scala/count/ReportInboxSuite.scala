package org.apache.spark.sql.keyroute.count

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}

class ReportInboxSuite extends AnyFunSuite {
  private def report(number: Int): Array[Byte] = Array.fill(10)(number.toByte)

  test("reports are taken in, in order; what would not fit is dropped") {
    val taken = new ConcurrentLinkedQueue[Int]()
    val go = new CountDownLatch(1)
    val inbox = new ReportInbox(
      mostBytes = 50,
      bytes => {
        go.await()
        taken.add(bytes.head.toInt)
        if (bytes.head == 1) throw new IllegalStateException("cannot be read")
        if (bytes.head == 3) throw new OutOfMemoryError("the test's own")
      }
    )
    // Nothing is taken before it is open: five fit.
    (0 until 8).foreach(n => inbox.put(report(n)))
    assert(inbox.dropped == 3)
    inbox.open()
    go.countDown()
    try {
      eventually(assert(taken.asScala.toSeq == (0 until 5)))
      inbox.put(report(8))
      eventually(assert(taken.asScala.toSeq.lastOption.contains(8)))
      assert(inbox.dropped == 3)
    } finally inbox.close()
  }
}
