package org.apache.spark.sql.keyroute.plugin

import scala.util.Random
import scala.util.control.NonFatal

import com.codahale.metrics.{Gauge, MetricRegistry}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.keyroute.count.{History, ReportInbox, StatisticsCollector, TaskListener}
import org.apache.spark.sql.keyroute.gateway.{DriverEntryPoint, Gateway, GatewayToken, QueryBoard}
import org.apache.spark.sql.keyroute.handoff.{CheckpointLayout, TableStore}
import org.apache.spark.sql.keyroute.place.CoordinatorPlacement
import org.apache.spark.sql.keyroute.publish.{
  Application,
  NoReconfigurations,
  Publisher,
  RunningQueries,
  RunningQuery,
  ZooKeeperPublisher
}
import org.apache.spark.sql.keyroute.stress.StressMode
import org.apache.spark.{SPARK_VERSION, SparkContext}

import io.keyroute.core.table.RoutingTables

/** KeyRoute's parts in the driver of one application. */
private[plugin] final class DriverParts(sc: SparkContext, appId: String) extends Logging {
  private val settings: String => Option[String] = sc.conf.getOption
  private val clock: () => Long = () => System.currentTimeMillis()

  val board: QueryBoard = new QueryBoard(appId, DriverParts.version, SPARK_VERSION)
  val collector: StatisticsCollector = new StatisticsCollector(
    History.of(settings),
    clock,
    (run, batch, ms) => board.applied(run, batch, ms)
  )

  /** Where executors' reports arrive. */
  val inbox: ReportInbox = new ReportInbox(ReportInbox.MostBytes, collector.received)

  private val publisher: Option[Publisher] = makePublisher()
  private val queries = new RunningQueries(board, collector, publisher)
  private val listener = new TaskListener(collector, queries)
  private var gateway = Option.empty[Gateway]
  private var token = Option.empty[GatewayToken]

  /** Opens everything. What fails is warned of and left out. */
  def open(): Unit = {
    inbox.open()
    sc.listenerBus.addToQueue(listener, "keyroute")
    Driver.reconfigurations = queries
    if (Settings.placementEnabled.in(settings) && !sc.isLocal) {
      Driver.placement = Some(new CoordinatorPlacement(sc, settings, collector.placement))
    }
    openGateway()
    publisher.foreach(_.open(Application(
      appId,
      gateway.map(g => advertised -> g.listeningPort),
      DriverParts.version,
      SPARK_VERSION,
      clock()
    )))
  }

  def registerMetrics(registry: MetricRegistry): Unit = {
    def gauge(name: String)(value: => Long): Unit = {
      registry.register(name, new Gauge[Long] { override def getValue: Long = value })
      ()
    }
    gauge("queries")(board.running)
    gauge("switches")(board.switches)
  }

  def close(): Unit = {
    Driver.reconfigurations = NoReconfigurations
    Driver.placement = None
    val closing = Seq(
      () => sc.listenerBus.removeListener(listener),
      () => inbox.close(),
      () => publisher.foreach(_.close()),
      () => gateway.foreach(_.close()),
      () => token.foreach(_.discard())
    )
    closing.foreach { close =>
      try close()
      catch { case NonFatal(e) => logWarning("a part of KeyRoute did not close", e) }
    }
  }

  // Where it listens on all addresses, others reach it by the driver's own.
  private def advertised: String = Settings.gatewayHost.in(settings) match {
    case "0.0.0.0" | "::" => sc.conf.get("spark.driver.host", "127.0.0.1")
    case host => host
  }

  private def makePublisher(): Option[Publisher] =
    Settings.stressBatches.in(settings) match {
      case 0 => makeZooKeeperPublisher()
      case every =>
        val seed = Settings.stressSeed.in(settings).getOrElse(Random.nextLong())
        Some(new StressMode(every, seed, collector.heaviest))
    }

  private def makeZooKeeperPublisher(): Option[Publisher] =
    Settings.zookeeperConnect.in(settings) match {
      case "" =>
        logWarning(s"${Settings.zookeeperConnect.key} is not set: queries are counted and " +
          "placed, but no table arrives")
        None
      case connect =>
        try Some(new ZooKeeperPublisher(
            connect,
            Settings.zookeeperRoot.in(settings),
            Settings.zookeeperAuthFile.in(settings),
            board,
            DriverParts.store,
            clock
          ))
        catch {
          case NonFatal(e) =>
            logWarning(s"ZooKeeper is not used, and no table arrives: ${e.getMessage}")
            None
        }
    }

  private def openGateway(): Unit =
    try {
      val secret = GatewayToken.find(
        Settings.gatewayTokenFile.in(settings),
        sys.env.get(GatewayToken.Environment),
        DriverShell.home,
        appId
      )
      token = Some(secret)
      val opened = new Gateway(
        Settings.gatewayHost.in(settings),
        Settings.gatewayPort.in(settings),
        secret.value,
        new DriverEntryPoint(board, collector)
      )
      opened.open()
      gateway = Some(opened)
      logInfo(s"the gateway listens on port ${opened.listeningPort}" +
        secret.madeFor.fold("")(path => s"; its token is in $path"))
    } catch {
      case NonFatal(e) =>
        logWarning(
          "the gateway could not be opened: no controller can read this application's " +
            s"statistics. ${e.getMessage}",
          e
        )
    }
}

private[plugin] object DriverParts {

  /** Of this jar, as its manifest has it. */
  val version: String =
    Option(classOf[DriverParts].getPackage.getImplementationVersion).getOrElse("development")

  // What is prepared lies in the checkpoint, where a replay finds it.
  private val store: (RunningQuery, RoutingTables) => Unit = (query, tables) =>
    new TableStore(new CheckpointLayout(query.checkpoint, query.hadoopConf)).put(tables)
}
