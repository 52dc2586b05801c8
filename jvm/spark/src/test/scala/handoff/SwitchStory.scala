package org.apache.spark.sql.keyroute.handoff

import org.apache.spark.sql.keyroute.route.KeyRouteException
import org.apache.spark.sql.streaming.StreamingQueryException

/** What stories of one query have in common: its start, its switch, its end. */
trait SwitchStory extends SwitchCells {
  import SwitchTest.spark

  protected val moving = TestTables.random(7L, Workloads.Keys) _

  protected def started(
      storage: Storage,
      workload: Workload = Workloads.aggregation,
      fromFiles: Boolean = false
  ): TestQuery = {
    val query = new TestQuery(workload, storage, fromFiles)
    query.start(): Unit
    query
  }

  /** A query that switched in batch 2 and ran two batches more. */
  protected def switched(fromFiles: Boolean = false): TestQuery = {
    val query = started(Storage.plain, fromFiles = fromFiles)
    query.feed(2)
    TestDesk.want(moving)
    query.feed(3)
    query.stop()
    TestDesk.wantNothing()
    assert(TestDesk.switches.map(_.batch) == Seq(2L), TestDesk.postponements)
    query
  }

  /** A stopped query is asked to switch before it starts again; it runs two batches. */
  protected def movedAtStart(query: TestQuery): Unit = {
    TestDesk.want(moving)
    query.start()
    query.feed(2)
    query.stop()
    assert(query.wrong == Nil)
  }

  /** The message of the deepest cause of ours. */
  protected def failure(body: => Unit): String = {
    val e = intercept[StreamingQueryException](body)
    Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null)
      .collect { case k: KeyRouteException => k.getMessage }.toSeq.lastOption
      .getOrElse(fail(s"not ours: $e", e))
  }

  protected def withSetting[T](setting: (String, String)*)(body: => T): T = {
    val before = setting.map { case (key, _) => key -> spark.conf.getOption(key) }
    setting.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }
}
