package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}
import org.apache.logging.log4j.core.{LogEvent, Logger}
import org.apache.logging.log4j.{Level, LogManager}
import org.scalatest.funsuite.AnyFunSuite

/** Why something stays on Spark's hash is in the log once a run, however many batches it has. */
class BypassLogSuite extends AnyFunSuite {
  import SwitchTest.spark

  test("a bypassed operator is in the log once a run, with its reason") {
    TestDesk.reset()
    val setting = "spark.sql.streaming.stateStore.unloadOnCommit"
    val query = new TestQuery(Workloads.aggregation, Storage.plain)
    val said = logged {
      spark.conf.set(setting, "true")
      try query.start()
      finally spark.conf.unset(setting)
      query.feed(3)
      query.stop()
    }
    val reasons = said.filter(_.contains("on Spark's hash"))
    assert(reasons.size == 1 && reasons.head.contains(s"$setting is true"), said)
    assert(reasons.head.contains("stateStoreSave"))
    assert(query.wrong == Nil)
  }

  private def logged(body: => Unit): Seq[String] = {
    val lines = new ConcurrentLinkedQueue[String]()
    val appender = new AbstractAppender("test", null, null, true, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = {
        lines.add(event.getMessage.getFormattedMessage)
        ()
      }
    }
    appender.start()
    Configurator.setLevel(classOf[Desk].getName, Level.WARN)
    val logger = LogManager.getLogger(classOf[Desk].getName).asInstanceOf[Logger]
    logger.addAppender(appender)
    try body
    finally logger.removeAppender(appender)
    lines.asScala.toSeq
  }
}
