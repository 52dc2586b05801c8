package org.apache.spark.sql.keyroute.handoff

import java.io.InterruptedIOException
import java.nio.file.{Files, Path => LocalPath}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit.SECONDS

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.streaming.StreamingQuery

/** `stop()` while one of our files is read or written: the query ends as it does in Spark's own
  * files, without an error, and its batch is not decided. */
class StoppedQuerySuite extends SwitchStory {
  private type Place = (Path, Boolean) => Boolean

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    FailingFiles.fails = FailingFiles.works
  }

  private def start(query: TestQuery): StreamingQuery =
    withSetting(FailingFiles.Setting)(query.start())

  private def startWithRows(query: TestQuery): StreamingQuery = {
    val stream = start(query)
    query.put()
    stream
  }

  /** A query that has run two batches, and runs on. */
  private def running(): (TestQuery, StreamingQuery) = {
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    val stream = start(query)
    query.feed(2)
    (query, stream)
  }

  private def in(folder: String, writes: Boolean): Place = (path, writing) =>
    writing == writes && path.getParent.getName == folder

  /** Files that are looked at from within a method of ours. */
  private def within(method: String): Place = (_, _) =>
    Thread.currentThread.getStackTrace.exists { frame =>
      frame.getMethodName.contains(method) && frame.getClassName.contains("keyroute.handoff")
    }

  /** A file system that hangs at a place, the first time, until it is interrupted. It says so as
    * Hadoop does, and the thread's flag is gone.
    *
    * @param done
    *   what it has done all the same */
  private def hanging(place: Place, done: Path => Unit = _ => ()): CountDownLatch = {
    val reached = new CountDownLatch(1)
    FailingFiles.fails = (path, writes) => {
      if (reached.getCount > 0 && place(path, writes)) {
        reached.countDown()
        // The hanging file: only the stop ends it, or the test fails.
        try Thread.sleep(SECONDS.toMillis(60))
        catch {
          case e: InterruptedException =>
            done(path)
            throw new InterruptedIOException(e.toString)
        }
      }
      false
    }
    reached
  }

  /** Stops a query where it hangs, and starts it again.
    *
    * @param begin
    *   starts the query or gives it rows, so that it comes to the place */
  private def stops(query: TestQuery, place: Place)(begin: => StreamingQuery): Unit = {
    @volatile var decided = false
    TestDecider.change = { decision =>
      decided = true
      decision
    }
    val reached = hanging(place)
    val stream = begin
    assert(reached.await(60, SECONDS))
    query.stop()
    TestDecider.reset()
    assert(stream.exception.isEmpty)
    assert(!decided)
    FailingFiles.fails = FailingFiles.works
    start(query)
    query.feed(1)
    query.stop()
    assert(query.wrong == Nil)
  }

  private val firstBatch = Seq[(String, Place)](
    "is looked for" -> within("mayExist"),
    "is made" -> in("keyroute", writes = true),
    "gets its first entry" -> FailingFiles.newEntries
  )
  firstBatch.foreach { case (what, place) =>
    test(s"while the route log of a new query $what") {
      val query = new TestQuery(Workloads.aggregation, Storage.plain)
      stops(query, place)(startWithRows(query))
    }
  }

  private val laterStart = Seq[(String, Place)](
    "the route log is read" -> in("keyroute", writes = false),
    "the layout of the state is read" -> within("planned"),
    "the layout of the state is read for a sample" -> within("storesToSample")
  )
  laterStart.foreach { case (what, place) =>
    test(s"while $what as a query starts again") {
      val (query, _) = running()
      query.stop()
      stops(query, place)(startWithRows(query))
    }
  }

  test("while the tables in force are read") {
    val query = switched()
    stops(query, in("tables", writes = false))(startWithRows(query))
  }

  test("while a later entry is written") {
    val (query, stream) = running()
    stops(query, FailingFiles.newEntries) { query.put(); stream }
  }

  test("while a later entry is written, and it is there all the same") {
    val (query, stream) = running()
    val half = (path: Path) => {
      Files.writeString(LocalPath.of(path.toUri.getPath), "not all of it"): Unit
    }
    val reached = hanging(FailingFiles.newEntries, half)
    query.put()
    assert(reached.await(60, SECONDS))
    query.stop()
    assert(stream.exception.isEmpty)
  }

  test("while the tables that are asked for are stored") {
    val (query, stream) = running()
    TestDesk.want(moving)
    stops(query, in("tables", writes = true)) { query.put(); stream }
    assert(TestDesk.postponements.isEmpty)
  }

  test("while what a switch has written in vain is dropped") {
    withSetting("spark.keyroute.handoff.timeoutMs" -> "1") {
      val (query, stream) = running()
      TestDesk.want(moving)
      stops(query, within("dropFiles")) { query.put(); stream }
    }
  }

  test("while old files are dropped") {
    val (query, stream) = running()
    TestDesk.want(moving)
    query.feed(1)
    stops(query, within("retain")) { query.put(); stream }
  }
}
