package org.apache.spark.sql.keyroute.handoff

import java.util.{Map => JMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.SparkContext
import org.apache.spark.api.plugin.{DriverPlugin, PluginContext}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.keyroute.plugin.{DriverShell, SparkSettings}
import org.apache.spark.sql.keyroute.route.{BatchDecider, BatchDecision, PlannedBatch}

import io.keyroute.spark.{KeyRouteExtension, KeyRoutePlugin}

/** Migrations that each go wrong in one way: who compares results must see it. The session's setting
  * says which: `unmoved`; `without FAMILY`, which stays behind; `elsewhere`, as by a wrong extractor
  * of keys: rows go one partition too far. */
object Mutants {
  val Setting = "spark.test.mutant"

  def mutated(
      d: BatchDecision,
      mutant: String,
      partitions: Int,
      conf: Configuration
  ): BatchDecision =
    SwitchEdits.files(d)(rewritten(_, partitions, conf)(change(mutant, partitions)))

  /** Where a row of a family goes that was to go to a partition; None: nowhere. */
  private def change(mutant: String, partitions: Int): (String, Int) => Option[Int] = {
    val Without = "without (.+)".r
    mutant match {
      case "unmoved" => (_, _) => None
      case "elsewhere" => (_, target) => Some((target + 1) % partitions)
      case Without(left) => (family, target) => Option.when(family != left)(target)
      case other => throw new IllegalArgumentException(s"${Mutants.Setting}: $other")
    }
  }

  private def rewritten(file: HandoffFile, partitions: Int, conf: Configuration)(
      change: (String, Int) => Option[Int]
  ): HandoffFile =
    if (file.segments.isEmpty) file
    else {
      val writer = new HandoffWriter(partitions, HandoffWriter.MaxBytes)
      val reader = new HandoffReader(new Path(file.path), conf)
      try
        for (s <- file.segments)
          reader.read(s.target, s.rows, s.checksum).foreach { (family, key, value) =>
            change(family, s.target).filter(_ != file.source)
              .foreach(writer.add(_, family, key, value))
          }
      finally reader.close()
      val path = new Path(file.path + "-mutant")
      file.copy(path = path.toString, segments = writer.write(path, conf))
    }
}

final class MutantExtension extends KeyRouteExtension(session => new MutantDecider(session))

private final class MutantDecider(session: SparkSession) extends BatchDecider {
  override def decide(batch: PlannedBatch): BatchDecision = Mutants.mutated(
    Deciders.decide(batch),
    session.conf.get(Mutants.Setting),
    batch.groups.head.partitions,
    session.sessionState.newHadoopConf()
  )
}

/** In place of the plugin: all of it, but for the rule. */
final class MutantPlugin extends KeyRoutePlugin {
  override def driverPlugin(): DriverPlugin = new DriverPlugin {
    private val product = new DriverShell

    override def init(sc: SparkContext, context: PluginContext): JMap[String, String] = {
      val extra = product.init(sc, context)
      val extensions = sc.conf.get(SparkSettings.extensionsKey)
      sc.conf.set(
        SparkSettings.extensionsKey,
        extensions.replace(SparkSettings.extension, classOf[MutantExtension].getName)
      )
      extra
    }

    override def registerMetrics(id: String, context: PluginContext): Unit =
      product.registerMetrics(id, context)
    override def receive(message: AnyRef): AnyRef = product.receive(message)
    override def shutdown(): Unit = product.shutdown()
  }
}
