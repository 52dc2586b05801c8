package org.apache.spark.sql.keyroute.plugin

import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging

/** The settings of Spark's own that turn KeyRoute on. Written into the context's configuration
  * before any session exists. */
object SparkSettings extends Logging {
  val extension: String = "io.keyroute.spark.KeyRouteExtension"
  val extensionsKey: String = "spark.sql.extensions"
  val listenersKey: String = "spark.sql.streaming.streamingQueryListeners"
  val providerKey: String = "spark.sql.streaming.stateStore.providerClass"

  private val sparkStates = "org.apache.spark.sql.execution.streaming.state"
  private val ourStates = "org.apache.spark.sql.keyroute.state"

  /** Routed twin of each state store provider of Spark. */
  val twins: Map[String, String] = Seq("RocksDBStateStoreProvider", "HDFSBackedStateStoreProvider")
    .map(name => s"$sparkStates.$name" -> s"$ourStates.Routed$name").toMap

  /** The provider of Spark that each twin stands for. */
  val originals: Map[String, String] = twins.map(_.swap)

  /** What Spark takes where nothing is set. */
  val defaultProvider: String = s"$sparkStates.HDFSBackedStateStoreProvider"

  /** Adds the planning rule to the session extensions. */
  def addExtension(conf: SparkConf): Unit = append(conf, extensionsKey, extension)

  /** Adds the listener that gives queries the twin of a provider set on their session. */
  def addListener(conf: SparkConf): Unit =
    append(conf, listenersKey, classOf[ProviderTwinListener].getName)

  private def append(conf: SparkConf, key: String, className: String): Unit = {
    val present = conf.getOption(key).toSeq.flatMap(_.split(',')).map(_.trim).filter(_.nonEmpty)
    if (!present.contains(className)) conf.set(key, (present :+ className).mkString(","))
  }

  /** Sets the routed twin of the configured provider; leaves a provider that has none. */
  def setProvider(conf: SparkConf): Unit = {
    val configured = conf.get(providerKey, defaultProvider)
    twins.get(configured) match {
      case Some(twin) => conf.set(providerKey, twin)
      case None if twins.values.toSet.contains(configured) => ()
      case None =>
        logWarning(s"$providerKey is $configured, which KeyRoute cannot move state with: queries " +
          s"stay on Spark's hash. To route them, set it to one of ${twins.keys.mkString(", ")}.")
    }
  }
}
