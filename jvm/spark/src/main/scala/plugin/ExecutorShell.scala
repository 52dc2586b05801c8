package org.apache.spark.sql.keyroute.plugin

import java.util.{Map => JMap}

import org.apache.spark.api.plugin.{ExecutorPlugin, PluginContext}
import org.apache.spark.sql.keyroute.count.TaskReports

/** KeyRoute in an executor: gives the counters their way to the driver. */
final class ExecutorShell extends ExecutorPlugin {
  override def init(context: PluginContext, extra: JMap[String, String]): Unit =
    TaskReports.connect(context)
}
