package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.atomic.AtomicInteger

/** Handoffs that take longer than they may. */
class SlowHandoffSuite extends SwitchStory {

  test("a handoff that takes too long is put off, and tried again") {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    withSetting("spark.keyroute.handoff.timeoutMs" -> "1") {
      query.start()
      query.feed(2)
      TestDesk.want(moving)
      query.feed(2)
      assert(TestDesk.postponements.map(_.contains("took too long")) == Seq(true, true))
      query.stop()
    }
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(4L))
  }

  test("scenario 16: handoff tasks that outlive their cancelled job are gone before the batch") {
    SlowFiles.outlived.set(0)
    TogetherWithHandoff.tasks.set(0)
    val query = new TestQuery(TogetherWithHandoff.workload, Storage.plain)
    withSetting(
      "spark.keyroute.handoff.timeoutMs" -> "500",
      "spark.sql.streaming.checkpointFileManagerClass" -> classOf[SlowFiles].getName,
      SlowFiles.Ms -> "3000",
      // The other core is free for the batch.
      SlowFiles.Partition -> "1"
    ) {
      query.start()
      query.feed(2)
      TestDesk.want(moving)
      query.feed(1)
      query.stop()
    }
    assert(TestDesk.postponements.size == 1 && TestDesk.switches.isEmpty)
    assert(TestDesk.postponements.head.contains("took too long"))
    assert(SlowFiles.outlived.get == 1)
    assert(TogetherWithHandoff.tasks.get == 0)
    assert(query.files("handoff").isEmpty)
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil && TestDesk.switches.map(_.batch) == Seq(3L))
  }
}

/** Counts rows that user code sees while a handoff file is being written. */
object TogetherWithHandoff {
  val tasks = new AtomicInteger()

  val workload: Workload = Workloads.aggregation.copy(query =
    in => Workloads.aggregation.query(in.filter { e: Event => pass(e) })
  )

  private def pass(event: Event): Boolean = {
    if (SlowFiles.writing.get > 0) tasks.incrementAndGet()
    event.k.nonEmpty
  }
}
