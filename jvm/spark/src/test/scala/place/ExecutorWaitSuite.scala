package org.apache.spark.sql.keyroute.place

import java.util.concurrent.TimeUnit.SECONDS
import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import java.util.concurrent.{CountDownLatch, Executors}

import org.scalatest.funsuite.AnyFunSuite

class ExecutorWaitSuite extends AnyFunSuite {
  private val Long = 60000L

  test("all who ask wait until the executors are there; one who is interrupted leaves alone") {
    val found = new AtomicInteger(1)
    val asked = new CountDownLatch(8)
    val wait = new ExecutorWait(2, Long, () => { asked.countDown(); found.get })
    val outcome = new AtomicReference[Throwable]
    val stopped = new Thread(() =>
      try wait.await()
      catch { case e: InterruptedException => outcome.set(e) }
    )
    stopped.start()
    val others = Executors.newFixedThreadPool(2)
    try {
      val waiting = Seq.fill(2)(others.submit[Unit](() => wait.await()))
      assert(asked.await(20, SECONDS))
      stopped.interrupt()
      stopped.join(SECONDS.toMillis(20))
      assert(outcome.get.isInstanceOf[InterruptedException])
      assert(!waiting.exists(_.isDone))
      found.set(2)
      waiting.foreach(_.get(20, SECONDS))
    } finally others.shutdownNow()
  }

  test("the wait is bounded, and over for all later askers") {
    val wait = new ExecutorWait(2, 1L, () => 0)
    wait.await()
    val asked = new AtomicInteger
    val over = new ExecutorWait(2, 1L, () => asked.incrementAndGet() * 0)
    over.await()
    val before = asked.get
    over.await()
    assert(asked.get == before)
  }
}
