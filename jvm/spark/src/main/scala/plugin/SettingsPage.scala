package org.apache.spark.sql.keyroute.plugin

import java.nio.file.{Files, Path}

/** Writes the reference page of the settings. A test holds `docs/configuration.md` to it; mend it
  * with `./sbt "spark/runMain org.apache.spark.sql.keyroute.plugin.SettingsPage
  * docs/configuration.md"`. */
object SettingsPage {
  private val head =
    """# Configuration
      |
      |Settings of the Spark application, given as Spark's own are (`--conf`, `spark-defaults.conf`,
      |the session's builder). A `spark.keyroute.` key that is not here is refused at the start.
      |This page is generated from the declarations in `Settings.scala`.
      |
      || setting | default | value | meaning |
      ||---|---|---|---|
      |""".stripMargin

  private val tail =
    """
      |What concerns single queries is also read from the session that starts them: `enabled`, `slots`,
      |`statistics.enabled`, `statistics.counters`, `statistics.upstreamKey`,
      |`statistics.carryUpstreamKey`, `statistics.labels` (up to what the application allows),
      |`placement.enabled`, `handoff.*` and `routeLog.assumeNoTable`. A value there that cannot be read is
      |warned of, and the default holds. After `SET spark.keyroute.enabled=false` the queries that the session starts are left
      |to Spark, and their new checkpoints do not need KeyRoute. The environment variable
      |`KEYROUTE_GATEWAY_TOKEN` holds the gateway's token where no file is named.
      |
      |## What the plugin sets
      |
      || Spark's setting | what is done |
      ||---|---|
      || `spark.sql.extensions` | `io.keyroute.spark.KeyRouteExtension` is added |
      || `spark.sql.streaming.stateStore.providerClass` | RocksDB's and the HDFS-backed one get their routed twins |
      || `spark.sql.streaming.streamingQueryListeners` | one is added |
      |
      |The listener gives the routed twin also to a provider that a session sets, and Spark's own where
      |the session has KeyRoute off. A provider that has
      |no twin is left, and its queries stay on Spark's hash.
      |
      |With `spark.keyroute.enabled=false` in the application only the extension is added, so that a
      |query with a table in force can go on with it. The gateway and the session with ZooKeeper are
      |opened all the same: such a query is told through them when it is to go back.
      |""".stripMargin

  /** The page, in Markdown. */
  def markdown: String = head + Settings.all.map(row).mkString + tail

  private def row(s: Setting[_]): String = {
    val default = if (s.default.isEmpty) "–" else s"`${s.default}`"
    s"| `${s.key}` | $default | ${s.unit} | ${s.doc.replace("|", "\\|")} |\n"
  }

  def main(args: Array[String]): Unit = {
    val page = args.headOption.getOrElse(
      throw new IllegalArgumentException("name the file to write, as docs/configuration.md")
    )
    Files.writeString(Path.of(page), markdown)
    ()
  }
}
