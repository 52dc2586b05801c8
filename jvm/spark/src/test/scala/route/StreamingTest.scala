package org.apache.spark.sql.keyroute.route

import java.nio.file.Files

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.OutputMode

import io.keyroute.spark.KeyRouteExtension

/** One session for all suites of the process. */
object StreamingTest {
  val Partitions = 4

  lazy val spark: SparkSession = BareFiles.in(SparkSession.builder())
    .master("local[2, 2]") // a task may fail once
    .appName("keyroute tests")
    .config("spark.ui.enabled", false)
    .config("spark.log.level", "WARN")
    .config("spark.sql.shuffle.partitions", Partitions.toLong)
    .config("spark.sql.autoBroadcastJoinThreshold", "-1")
    .config("spark.sql.streaming.noDataMicroBatches.enabled", false)
    .config("spark.sql.codegen.fallback", false)
    .config("spark.sql.warehouse.dir", Files.createTempDirectory("keyroute-warehouse").toString)
    .config("spark.sql.streaming.stateStore.providerClass", StateProviders.RocksDB)
    .withExtensions(new KeyRouteExtension(_ => RandomTables))
    .withExtensions(NaiveExchanges)
    .getOrCreate()

  final case class Event(k: String, v: Long)

  /** Keys k(50 b) to k(50 b + 99): half of each batch's keys were in the one before. */
  def events(batch: Int, count: Int = 100): Seq[Event] =
    (50 * batch until 50 * batch + count).map(i => Event(s"k$i", i * 7L))

  /** The rows of each batch, sorted, and the plans that made them. */
  final case class Run(batches: Seq[Seq[String]], plans: Seq[SparkPlan]) {
    def rows: Seq[String] = batches.flatten.sorted
    def nodes[T](find: PartialFunction[SparkPlan, T]): Seq[T] = plans.flatMap(_.collect(find))
  }

  /** Runs a query over as many streams as each batch of `feeds` has.
    *
    * @param tables
    *   what [[RandomTables]] does: `none`, `empty`, `random`; or `naive`, see [[NaiveExchanges]]
    * @param feeds
    *   for each batch the events of each stream
    * @param inBatch
    *   applied to each batch's frame by the sink
    * @param beforeRun
    *   called with the run's number before each start
    * @param runs
    *   how often the query is started, with an equal share of the batches each
    */
  def streamed(
      tables: String,
      feeds: Seq[Seq[Seq[Event]]],
      mode: OutputMode = OutputMode.Append(),
      settings: Map[String, String] = Map.empty,
      inBatch: DataFrame => DataFrame = identity,
      runs: Int = 1,
      beforeRun: Int => Unit = _ => ()
  )(ask: Seq[DataFrame] => DataFrame): Run =
    withSettings(settings + (RandomTables.Setting -> tables)) {
      import spark.implicits._
      val streams = feeds.head.map(_ => MemoryStream[Event](spark))
      val checkpoint = Files.createTempDirectory("keyroute-checkpoint").toString
      val batches = mutable.ArrayBuffer.empty[Seq[String]]
      val plans = mutable.ArrayBuffer.empty[SparkPlan]
      feeds.grouped((feeds.size + runs - 1) / runs).zipWithIndex.foreach { case (part, number) =>
        val rest = part.iterator
        // On the stream's own thread between batches, so that all streams' events are one batch.
        def feed(): Unit = rest.nextOption().foreach { batch =>
          streams.zip(batch).foreach { case (s, rows) => if (rows.nonEmpty) s.addData(rows) }
        }
        beforeRun(number)
        feed()
        val query = ask(streams.map(_.toDF())).writeStream
          .outputMode(mode)
          .option("checkpointLocation", checkpoint)
          .foreachBatch { (frame: DataFrame, _: Long) =>
            batches += inBatch(frame).collect().map(_.toString).toSeq.sorted
            plans ++= spark.sharedState.activeStreamingQueries.values.asScala
              .filter(_.resolvedCheckpointRoot.endsWith(checkpoint))
              .map(_.lastExecution.executedPlan)
            feed()
          }
          .start()
        try query.processAllAvailable()
        finally query.stop()
      }
      Run(batches.toSeq, plans.toSeq)
    }

  def withSettings[T](settings: Map[String, String])(body: => T): T = {
    val before = settings.keys.map(k => k -> spark.conf.getOption(k)).toSeq
    settings.foreach { case (k, v) => spark.conf.set(k, v) }
    try body
    finally before.foreach {
        case (k, Some(v)) => spark.conf.set(k, v)
        case (k, None) => spark.conf.unset(k)
      }
  }

  /** A table of keys k0 until k`size`. */
  def static(size: Int, column: String = "w"): DataFrame =
    spark.range(size.toLong).select(col("id").cast("string").as("id"), col("id").as(column))
      .selectExpr("concat('k', id) as k", column)
}
