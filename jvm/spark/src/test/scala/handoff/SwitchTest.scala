package org.apache.spark.sql.keyroute.handoff

import java.io.File
import java.nio.file.{Files, Path}

import scala.collection.mutable

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.{col, hash, xxhash64}
import org.apache.spark.sql.keyroute.plugin.{Driver, SparkSettings}
import org.apache.spark.sql.keyroute.route.{BareFiles, BatchDecider, BatchDecision, PlannedBatch}
import org.apache.spark.sql.keyroute.state.{
  RoutedHDFSBackedStateStoreProvider,
  RoutedRocksDBStateStoreProvider
}
import org.apache.spark.sql.streaming.{DataStreamWriter, StreamingQuery}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{DataFrame, Dataset, Row}

import io.keyroute.core.table.{GroupTable, RoutingTables}
import io.keyroute.spark.KeyRouteExtension

/** How a query keeps its state.
  *
  * @param ours
  *   whether by KeyRoute's provider; else by Spark's own
  */
final case class Storage(
    rocksDb: Boolean,
    format: Int,
    changelog: Boolean,
    ours: Boolean = true
) {
  def ofSpark: Storage = copy(ours = false)

  def provider: String = {
    val twin =
      if (rocksDb) classOf[RoutedRocksDBStateStoreProvider].getName
      else classOf[RoutedHDFSBackedStateStoreProvider].getName
    if (ours) twin else SparkSettings.originals(twin)
  }

  override def toString: String =
    if (rocksDb) s"RocksDB, format $format, changelog ${if (changelog) "on" else "off"}"
    else "HDFS-backed"

  def settings: Map[String, String] = Map(
    SparkSettings.providerKey -> provider,
    "spark.sql.streaming.stateStore.checkpointFormatVersion" -> format.toString,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> changelog.toString
  )
}

object Storage {
  val plain: Storage = Storage(rocksDb = true, format = 1, changelog = false)
  val hdfs: Storage = Storage(rocksDb = false, format = 1, changelog = false)
  val rocksDbs: Seq[Storage] =
    for (f <- Seq(1, 2); c <- Seq(false, true)) yield Storage(rocksDb = true, f, c)
}

/** Asks the product, and lets a test change the question and the answer. */
object TestDecider extends BatchDecider {
  @volatile var see: PlannedBatch => PlannedBatch = identity
  @volatile var change: BatchDecision => BatchDecision = identity

  override def decide(batch: PlannedBatch): BatchDecision = change(Deciders.decide(see(batch)))

  def reset(): Unit = {
    see = identity
    change = identity
  }
}

object SwitchTest {
  val Partitions = 4

  lazy val spark: SparkSession = {
    Driver.reconfigurations = TestDesk
    BareFiles.in(SparkSession.builder())
      .master("local[2, 2]") // a task may fail once
      .appName("keyroute switches")
      .config("spark.ui.enabled", false)
      .config("spark.sql.shuffle.partitions", Partitions.toLong)
      .config("spark.sql.streaming.noDataMicroBatches.enabled", false)
      .config("spark.sql.streaming.metricsEnabled", false)
      .config("spark.sql.warehouse.dir", Files.createTempDirectory("keyroute-warehouse").toString)
      .config("spark.sql.codegen.wholeStage", false)
      .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
      .config("spark.sql.streaming.checkpoint.fileChecksum.enabled", false)
      .withExtensions(new KeyRouteExtension(_ => TestDecider))
      .getOrCreate()
  }
}

/** A query that a test starts, feeds, stops and looks into.
  *
  * @param fromFiles
  *   whether the input is files, which can be read again; a memory stream is faster
  */
final class TestQuery(val workload: Workload, storage: Storage, fromFiles: Boolean = false) {
  import SwitchTest.spark

  /** May be changed between runs. */
  var checkpoint: Path = Files.createTempDirectory("keyroute-checkpoint")

  /** Rows of each batch that the sink saw last, unsorted. */
  val batches: mutable.TreeMap[Long, Seq[String]] = mutable.TreeMap.empty

  /** Called by the sink with the batch's number, before it keeps the rows. */
  @volatile var inSink: Long => Unit = _ => ()

  /** The sink's own look at the batch's frame. */
  @volatile var look: DataFrame => Seq[Row] = _.collect().toSeq

  private val stream = {
    import spark.implicits._
    MemoryStream[Event](spark)
  }
  private val folder = Files.createTempDirectory("keyroute-input")
  private var running: Option[StreamingQuery] = None
  private var fed = 0

  /** @param as
    *   the query as a user has changed it since
    * @param on
    *   what the session says of state by now; a checkpoint holds on to what it was made with
    * @param into
    *   another sink than the one that keeps [[batches]] */
  def start(
      as: Workload = workload,
      on: Storage = storage,
      into: DataStreamWriter[Row] => DataStreamWriter[Row] = kept
  ): StreamingQuery = {
    on.settings.foreach { case (k, v) => spark.conf.set(k, v) }
    workload.settings.foreach { case (k, v) => spark.conf.set(k, v) }
    val query = into(as.query(input).writeStream.outputMode(workload.mode))
      .option("checkpointLocation", checkpoint.toString).start()
    workload.settings.keys.foreach(spark.conf.unset) // the stream has a session of its own
    running = Some(query)
    query
  }

  /** The sink that keeps [[batches]]. */
  def kept(writer: DataStreamWriter[Row]): DataStreamWriter[Row] =
    writer.foreachBatch { (frame: DataFrame, batch: Long) =>
      val rows = look(frame).map(_.toString)
      inSink(batch)
      synchronized(batches(batch) = rows)
    }

  private def input: Dataset[Event] =
    if (!fromFiles) stream.toDS()
    else {
      import spark.implicits._
      spark.readStream.schema("k string, v long").csv(folder.toString)
        .selectExpr("k", "v", "timestamp_seconds(v) as ts").as[Event]
    }

  /** Runs batches of [[Workloads.batch]]. */
  def feed(count: Int): Unit = (0 until count).foreach { _ =>
    put()
    running.get.processAllAvailable()
  }

  /** Makes the input of one batch, and does not wait for it. */
  def put(): Unit = {
    val events = Workloads.batch(fed)
    if (fromFiles) {
      val part = Files.createTempFile("keyroute-part", ".csv")
      Files.writeString(part, events.map(e => s"${e.k},${e.v}").mkString("\n"))
      Files.move(part, folder.resolve(s"$fed.csv"))
    } else stream.addData(events)
    fed += 1
  }

  def stop(): Unit = {
    running.foreach(_.stop())
    running = None
  }

  /** Numbers of batches whose rows are not what they must be; all others are there, in order. */
  def wrong: Seq[Long] = {
    val model = workload.model()
    (0 until fed).filter { b =>
      val wanted = model(Workloads.batch(b)).sorted
      batches.get(b.toLong).map(_.sorted) != Some(wanted)
    }.map(_.toLong)
  }

  /** The rows of all batches together, as they must be. */
  def allRows: Seq[String] = {
    val model = workload.model()
    (0 until fed).flatMap(b => model(Workloads.batch(b)))
  }

  /** After the newest batch, where the workload's model counts them. */
  def stateRows: Option[Long] = workload.model() match {
    case model: Model =>
      (0 until fed).foreach(b => model(Workloads.batch(b)))
      Some(model.stateRows)
    case _ => None
  }

  def file(name: String): File = checkpoint.resolve("keyroute").resolve(name).toFile

  def files(folder: String): Seq[File] =
    Option(file(folder).listFiles()).toSeq.flatten.filterNot(_.getName.startsWith("."))
      .sortBy(_.getName)

  /** Rows of the newest state that do not lie where a table says; and how many there are.
    *
    * @param variable
    *   of `transformWithState`
    */
  def misplaced(table: GroupTable, variable: Option[String]): (Seq[Row], Long) = {
    val reader = spark.read.format("statestore").option("operatorId", table.shape.operators.head)
    val state = variable.fold(reader)(v => reader.option("stateVarName", v))
      .load(checkpoint.toString)
    val key = state.schema("key").dataType.asInstanceOf[StructType].fieldNames
      .map(n => col("key").getField(n)).toSeq
      .take(table.shape.keyTypes.size) // a session's start comes after the key
    val routing = table.shape.routingOrdinals.map(key)
    val rows = state.select(col("partition_id"), hash(key: _*), xxhash64(routing: _*)).collect()
    (
      rows.filter(r => r.getInt(0) != table.route(r.getInt(1), r.getLong(2))).toSeq,
      rows.length.toLong
    )
  }

  /** The only group's table in some tables. */
  def table(tables: RoutingTables): GroupTable = tables.groups.head
}
