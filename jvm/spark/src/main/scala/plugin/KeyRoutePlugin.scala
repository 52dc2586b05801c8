package io.keyroute.spark

import org.apache.spark.api.plugin.{DriverPlugin, ExecutorPlugin, SparkPlugin}
import org.apache.spark.sql.keyroute.plugin.{DriverShell, ExecutorShell}

/** Turns KeyRoute on: `spark.plugins=io.keyroute.spark.KeyRoutePlugin`, with the jar in
  * `--jars`. */
class KeyRoutePlugin extends SparkPlugin {
  override def driverPlugin(): DriverPlugin = new DriverShell
  override def executorPlugin(): ExecutorPlugin = new ExecutorShell
}
