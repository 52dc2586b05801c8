package org.apache.spark.sql.keyroute.plugin

import java.nio.file.Path
import java.util.{Collections, Map => JMap}

import scala.util.control.NonFatal

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}
import org.apache.spark.internal.Logging

/** KeyRoute in the driver. Sets Spark's settings before there is a session; opens the gateway and
  * ZooKeeper once the application has its id. What cannot be opened is warned of: a query runs
  * without it. */
final class DriverShell extends DriverPlugin with Logging {
  private var context = Option.empty[SparkContext]
  @volatile private var parts = Option.empty[DriverParts]

  /** @throws IllegalArgumentException
    *   for a setting that does not exist or cannot be read
    */
  override def init(sc: SparkContext, plugin: PluginContext): JMap[String, String] = {
    Compatibility.check()
    SettingsCheck.check(sc.conf)
    // The rule also where KeyRoute is off: a query with a table in force must go on with it.
    SparkSettings.addExtension(sc.conf)
    if (Settings.enabled.in(sc.conf.getOption)) {
      SparkSettings.setProvider(sc.conf)
      SparkSettings.addListener(sc.conf)
    } else {
      logInfo("KeyRoute is off (spark.keyroute.enabled=false): new queries are left to Spark")
    }
    context = Some(sc)
    Collections.emptyMap()
  }

  override def registerMetrics(appId: String, plugin: PluginContext): Unit =
    context.foreach { sc =>
      val opened = new DriverParts(sc, appId)
      parts = Some(opened)
      opened.open()
      opened.registerMetrics(plugin.metricRegistry)
    }

  /** A report of an executor's counters; nothing, where it only looked for us. */
  override def receive(message: AnyRef): AnyRef = {
    message match {
      case report: Array[Byte] if report.nonEmpty => parts.foreach(_.inbox.put(report))
      case _ => ()
    }
    null
  }

  override def shutdown(): Unit =
    try parts.foreach(_.close())
    catch { case NonFatal(e) => logWarning("KeyRoute did not close all of its parts", e) }
    finally parts = None
}

object DriverShell {

  /** Where the token of an application is written. */
  private[plugin] def home: Path = Path.of(System.getProperty("user.home"))
}
