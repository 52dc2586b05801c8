package org.apache.spark.sql.keyroute.route

import scala.concurrent.Future

import org.apache.spark.rdd.{RDD, RDDOperationScope}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, Partitioning}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeLike, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.{
  SQLMetric,
  SQLMetrics,
  SQLShuffleReadMetricsReporter,
  SQLShuffleWriteMetricsReporter
}
import org.apache.spark.sql.execution.{
  SQLExecution,
  ShufflePartitionSpec,
  SparkPlan,
  UnsafeRowSerializer
}
import org.apache.spark.sql.keyroute.SparkSeam
import org.apache.spark.{MapOutputStatistics, ShuffleDependency}

/** The exchange that routes rows to a stateful operator.
  *
  * The tables are no argument of the first list, since those are printed and compared; group and
  * version are, so that Spark reuses the exchange only where rows lie alike.
  *
  * @param hash
  *   what Spark would have done; with version 0 this does the same
  * @param version
  *   of the tables, or 0 where the group has none
  */
final case class RoutedExchangeExec(
    hash: HashPartitioning,
    child: SparkPlan,
    shuffleOrigin: ShuffleOrigin,
    group: Long,
    version: Long
)(@transient val routing: ExchangeRoute)
    extends Exchange
    with ShuffleExchangeLike {

  override def nodeName: String = "RoutedExchange"

  override def outputPartitioning: Partitioning =
    if (version == 0) hash
    else
      RoutedPartitioning(
        hash.expressions,
        hash.numPartitions,
        group,
        version,
        routing.route.runId
      )

  override def stringArgs: Iterator[Any] =
    Iterator(
      outputPartitioning,
      shuffleOrigin,
      s"group=$group",
      s"table=$version",
      s"[plan_id=$id]"
    )

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(routing)

  private lazy val writeMetrics =
    SQLShuffleWriteMetricsReporter.createShuffleWriteMetrics(sparkContext)
  private lazy val readMetrics =
    SQLShuffleReadMetricsReporter.createShuffleReadMetrics(sparkContext)

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "dataSize" -> SQLMetrics.createSizeMetric(sparkContext, "data size"),
    "numPartitions" -> SQLMetrics.createMetric(sparkContext, "number of partitions"),
    "tableVersion" -> SQLMetrics.createMetric(sparkContext, "table version"),
    "rowsByTable" -> SQLMetrics.createMetric(sparkContext, "rows routed by the table"),
    "rowsBySlot" -> SQLMetrics.createMetric(sparkContext, "rows routed by their slot")
  ) ++ readMetrics ++ writeMetrics

  private lazy val serializer =
    new UnsafeRowSerializer(child.output.size, longMetric("dataSize"))

  @transient private lazy val input: RDD[InternalRow] = child.execute()

  @transient lazy val shuffleDependency: ShuffleDependency[Int, InternalRow, InternalRow] =
    RDDOperationScope.withScope(sparkContext, nodeName, allowNesting = false, ignoreParent = true) {
      val partitions = hash.numPartitions
      val pairs = MapSide.of(this).route(input, SparkSeam.mustCopyRows(partitions))
      val shuffle =
        SparkSeam.shuffleDependency(pairs, partitions, serializer, writeMetrics)
      postDriverMetrics()
      shuffle
    }

  private def postDriverMetrics(): Unit = {
    longMetric("numPartitions").set(hash.numPartitions.toLong)
    longMetric("tableVersion").set(version)
    SQLMetrics.postDriverMetricUpdates(
      sparkContext,
      sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY),
      Seq(longMetric("numPartitions"), longMetric("tableVersion"))
    )
  }

  @transient override lazy val mapOutputStatisticsFuture: Future[MapOutputStatistics] =
    if (input.getNumPartitions == 0) Future.successful(null)
    else sparkContext.submitMapStage(shuffleDependency)

  override def numMappers: Int = shuffleDependency.rdd.getNumPartitions
  override def numPartitions: Int = hash.numPartitions
  override def advisoryPartitionSize: Option[Long] = None
  override def runtimeStatistics: Statistics = Statistics(metrics("dataSize").value)
  override def shuffleId: Int = shuffleDependency.shuffleId

  override def getShuffleRDD(specs: Array[ShufflePartitionSpec]): RDD[InternalRow] =
    throw new UnsupportedOperationException(
      "a routed exchange belongs to a stateful query, which Spark never plans adaptively"
    )

  override protected def doExecute(): RDD[InternalRow] =
    new RoutedRowRDD(shuffleDependency, readMetrics, routing.route, MapSide.of(this).reduceReport)

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)(routing)
}

object RoutedExchangeExec {

  /** Position of the exchange among those of its plan. */
  val Number: TreeNodeTag[Int] = TreeNodeTag[Int]("keyroute.exchange")
}
