package org.apache.spark.sql.keyroute.plugin

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.internal.Logging

import io.keyroute.core.sketch.{SlotPairCounts, SpaceSaving}

/** One setting: declared once, here, and read by `docs/configuration.md`'s generator.
  *
  * @param key
  *   full key, under `spark.keyroute.`
  * @param default
  *   the default as a user would write it; empty where there is none
  * @param unit
  *   what the value is: `boolean`, `integer`, `rows`, `bytes`, `ms`, `host:port`, `path`, `text`
  * @param doc
  *   one or two sentences for the reference page
  */
final case class Setting[T](
    key: String,
    default: String,
    unit: String,
    doc: String,
    parse: String => T
) {

  /** Value in a configuration given as a look-up; a clear error for a value that cannot be read. */
  def in(lookup: String => Option[String]): T = {
    val text = lookup(key).getOrElse(default)
    try parse(text)
    catch {
      case e: Settings.OutOfBounds =>
        throw new IllegalArgumentException(s"$key is '$text', ${e.getMessage}: $doc", e)
      case e: IllegalArgumentException =>
        throw new IllegalArgumentException(s"$key is '$text', but must be $unit: $doc", e)
    }
  }

  /** Value in the configuration of a session, which may be changed while queries run: one that cannot
    * be read stops none of them, and the default is taken. */
  def orDefault(lookup: String => Option[String]): T =
    try in(lookup)
    catch {
      case e: IllegalArgumentException =>
        Settings.warnOnce(s"${e.getMessage} The default is taken: $default")
        parse(default)
    }
}

object Settings extends Logging {
  private val MostWarnings = 256
  private val warned = ConcurrentHashMap.newKeySet[String]()

  private[plugin] def warnOnce(sentence: String): Unit =
    if (warned.size < MostWarnings && warned.add(sentence)) logWarning(sentence)

  private def bool(s: String): Boolean = s.toBooleanOption
    .getOrElse(throw new IllegalArgumentException("neither true nor false"))

  private def between(least: Long, most: Long)(s: String): Long = s.toLong match {
    case n if n >= least && n <= most => n
    case _ => throw new OutOfBounds(s"but must be from $least to $most")
  }

  private[plugin] final class OutOfBounds(message: String)
      extends IllegalArgumentException(message)

  val prefix: String = "spark.keyroute."

  val enabled: Setting[Boolean] = Setting(
    "spark.keyroute.enabled",
    "true",
    "boolean",
    "Whether new queries are routed. A query with a table in force goes on with it in any case.",
    bool
  )

  val zookeeperConnect: Setting[String] = Setting(
    "spark.keyroute.zookeeper.connect",
    "",
    "host:port",
    "ZooKeeper's connect string. Without it queries are counted and placed, but no table arrives.",
    identity
  )

  val zookeeperRoot: Setting[String] = Setting(
    "spark.keyroute.zookeeper.root",
    "/keyroute",
    "text",
    "The node under which KeyRoute keeps everything.",
    identity
  )

  val zookeeperAuthFile: Setting[String] = Setting(
    "spark.keyroute.zookeeper.authFile",
    "",
    "path",
    "File with one line user:password. With it every node is readable and writable by it only.",
    identity
  )

  val gatewayHost: Setting[String] = Setting(
    "spark.keyroute.gateway.host",
    "127.0.0.1",
    "text",
    "Address that the gateway listens on.",
    identity
  )

  val gatewayPort: Setting[Int] = Setting(
    "spark.keyroute.gateway.port",
    "0",
    "integer",
    "Port of the gateway; 0 takes a free one.",
    between(0L, 65535L)(_).toInt
  )

  val gatewayTokenFile: Setting[String] = Setting(
    "spark.keyroute.gateway.tokenFile",
    "",
    "path",
    "File that holds the gateway's token (mode 0600); made if it is missing. Without it the token " +
      "is taken from the environment (KEYROUTE_GATEWAY_TOKEN), else made and written to " +
      "~/.keyroute/<application id>.token.",
    identity
  )

  val statisticsEnabled: Setting[Boolean] = Setting(
    "spark.keyroute.statistics.enabled",
    "true",
    "boolean",
    "Whether keys and key pairs are counted.",
    bool
  )

  val statisticsCounters: Setting[Int] = Setting(
    "spark.keyroute.statistics.counters",
    "32768",
    "integer",
    "Counters of each sketch: the heaviest keys, or pairs, that are told apart.",
    between(1L, SpaceSaving.MaxCapacity.toLong)(_).toInt
  )

  val statisticsSlotPairs: Setting[Int] = Setting(
    "spark.keyroute.statistics.slotPairs",
    "65536",
    "integer",
    "Cells of the matrix of slots of two consecutive operators, in a map task and in a period; rows " +
      "of further cells are told as left out. 0 counts no matrix.",
    between(0L, SlotPairCounts.MaxCells.toLong)(_).toInt
  )

  val statisticsSample: Setting[Int] = Setting(
    "spark.keyroute.statistics.sample",
    "1",
    "integer",
    "Keys, pairs and pairs of slots are counted in every so many-th row, for as many rows; slots and " +
      "partitions in every row.",
    between(1L, 1000000L)(_).toInt
  )

  val statisticsSampleAfter: Setting[Int] = Setting(
    "spark.keyroute.statistics.sampleAfter",
    "4096",
    "rows",
    "Once a map task has counted so many rows it counts ever fewer of those that follow (0: all, and the " +
      "counts are exact).",
    between(0L, 1L << 30)(_).toInt
  )

  val statisticsPeriodRows: Setting[Long] = Setting(
    "spark.keyroute.statistics.periodRows",
    "25000",
    "rows",
    "Input rows after which the driver closes a period of statistics.",
    between(1L, Long.MaxValue)
  )

  val statisticsPeriods: Setting[Int] = Setting(
    "spark.keyroute.statistics.periods",
    "16",
    "integer",
    "Closed periods that the driver keeps for each query.",
    between(1L, 1000L)(_).toInt
  )

  val statisticsSources: Setting[Boolean] = Setting(
    "spark.keyroute.statistics.sources",
    "true",
    "boolean",
    "Whether the driver keeps which partitions of a source the heavy keys come from.",
    bool
  )

  val statisticsResetOnSwitch: Setting[Boolean] = Setting(
    "spark.keyroute.statistics.resetOnSwitch",
    "false",
    "boolean",
    "Whether a change of tables forgets what was counted before it.",
    bool
  )

  val statisticsUpstreamKey: Setting[String] = Setting(
    "spark.keyroute.statistics.upstreamKey",
    "",
    "text",
    "Names of the columns that hold the upstream operator's key, comma-separated, where KeyRoute " +
      "cannot follow them through the plan itself.",
    identity
  )

  val statisticsCarryUpstreamKey: Setting[Boolean] = Setting(
    "spark.keyroute.statistics.carryUpstreamKey",
    "true",
    "boolean",
    "Whether an upstream key that a query leaves out before an exchange, or before a partial " +
      "aggregation, is carried along up to there to be counted. Rows that are shuffled stay as they are.",
    bool
  )

  val statisticsLabels: Setting[Int] = Setting(
    "spark.keyroute.statistics.labels",
    "0",
    "integer",
    "Heaviest keys of each operator whose values are told in the statistics, for people; 0 tells " +
      "none. They leave the executors, and whoever may ask the gateway or read a dump can read them.",
    between(0L, 10000L)(_).toInt
  )

  val placementEnabled: Setting[Boolean] = Setting(
    "spark.keyroute.placement.enabled",
    "true",
    "boolean",
    "Whether partition i of consecutive operators is placed on one executor.",
    bool
  )

  val placementExecutors: Setting[Int] = Setting(
    "spark.keyroute.placement.executors",
    "0",
    "integer",
    "Executors to wait for before partitions are placed; 0 takes spark.executor.instances, or " +
      "the number that local-cluster starts.",
    between(0L, Int.MaxValue.toLong)(_).toInt
  )

  val slots: Setting[Int] = Setting(
    "spark.keyroute.slots",
    "0",
    "integer",
    "Slots of each routing group, rounded up to a multiple of its partitions; 0 takes the least " +
      "multiple that is at least 1024 and 8 a partition.",
    between(0L, Int.MaxValue.toLong)(_).toInt
  )

  val handoffTimeoutMs: Setting[Long] = Setting(
    "spark.keyroute.handoff.timeoutMs",
    "30000",
    "ms",
    "Time after which a handoff is given up and tried again in a later batch.",
    between(1L, Int.MaxValue.toLong)
  )

  val handoffPostponements: Setting[Int] = Setting(
    "spark.keyroute.handoff.postponements",
    "3",
    "integer",
    "Batches that a switch waits for stores to be loaded before it reads them from the checkpoint.",
    between(0L, Int.MaxValue.toLong)(_).toInt
  )

  val handoffAttempts: Setting[Int] = Setting(
    "spark.keyroute.handoff.attempts",
    "10",
    "integer",
    "Batches after which a switch that did not work is given up: the tables are refused. More " +
      "than spark.keyroute.handoff.postponements.",
    between(1L, Int.MaxValue.toLong)(_).toInt
  )

  val handoffMaxBytes: Setting[Long] = Setting(
    "spark.keyroute.handoff.maxBytes",
    "268435456",
    "bytes",
    "State that may leave, or arrive at, one state store of one partition in one switch: it is in " +
      "memory at once. Tables that move more are refused. At most 1073741824.",
    between(1L, 1L << 30)
  )

  val assumeNoTable: Setting[Boolean] = Setting(
    "spark.keyroute.routeLog.assumeNoTable",
    "false",
    "boolean",
    "Whether a checkpoint without KeyRoute's route log is taken for one that never had a routing " +
      "table. If it had one, the results are wrong.",
    bool
  )

  val stressBatches: Setting[Int] = Setting(
    "spark.keyroute.stress.batches",
    "0",
    "integer",
    "For tests: every query changes to random tables after so many batches, without ZooKeeper and " +
      "controller; 0 is off.",
    between(0L, Int.MaxValue.toLong)(_).toInt
  )

  val stressSeed: Setting[Option[Long]] = Setting(
    "spark.keyroute.stress.seed",
    "",
    "integer",
    "What those random tables are drawn from; without it a number that the driver's log tells.",
    s => Option.when(s.nonEmpty)(s.toLong)
  )

  val all: Seq[Setting[_]] = Seq(
    enabled,
    zookeeperConnect,
    zookeeperRoot,
    zookeeperAuthFile,
    gatewayHost,
    gatewayPort,
    gatewayTokenFile,
    statisticsEnabled,
    statisticsCounters,
    statisticsSlotPairs,
    statisticsSample,
    statisticsSampleAfter,
    statisticsPeriodRows,
    statisticsPeriods,
    statisticsSources,
    statisticsResetOnSwitch,
    statisticsUpstreamKey,
    statisticsCarryUpstreamKey,
    statisticsLabels,
    placementEnabled,
    placementExecutors,
    slots,
    handoffTimeoutMs,
    handoffPostponements,
    handoffAttempts,
    handoffMaxBytes,
    assumeNoTable,
    stressBatches,
    stressSeed
  )
}
