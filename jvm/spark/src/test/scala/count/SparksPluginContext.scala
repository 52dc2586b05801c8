package org.apache.spark.internal.plugin

import org.apache.spark.api.plugin.PluginContext
import org.apache.spark.rpc.{RpcEndpoint, RpcEnv}
import org.apache.spark.{SparkConf, SparkEnv}

/** The context that Spark gives a plugin in an executor, with what its messages reach. */
object SparksPluginContext {
  def apply(env: SparkEnv, conf: SparkConf): PluginContext =
    new PluginContextImpl("plugin", env.rpcEnv, env.metricsSystem, conf, "1", java.util.Map.of())

  /** Stands where Spark's own end of plugins' messages is, in a driver that has a plugin. */
  def receiving(env: SparkEnv)(take: AnyRef => Unit): AutoCloseable = {
    val end = new RpcEndpoint {
      override val rpcEnv: RpcEnv = env.rpcEnv
      override def receive: PartialFunction[Any, Unit] = { case m: PluginMessage =>
        take(m.message)
      }
    }
    val ref = env.rpcEnv.setupEndpoint(classOf[PluginEndpoint].getName, end)
    () => env.rpcEnv.stop(ref)
  }
}
