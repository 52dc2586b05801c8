package org.apache.spark.sql.keyroute

import scala.annotation.unused

import org.apache.spark.internal.config.SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD
import org.apache.spark.rdd.RDD
import org.apache.spark.serializer.Serializer
import org.apache.spark.shuffle.sort.SortShuffleManager
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRowChecksum
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.{EnsureRequirements, ShuffleExchangeExec}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.RealTimeTrigger
import org.apache.spark.sql.execution.streaming.operators.stateful.flatmapgroupswithstate.FlatMapGroupsWithStateExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.RocksDB
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.{PartitionIdPassthrough, ShuffleDependency, SparkEnv}

/** What differs between Spark's minor versions, as of 4.2. */
object SparkSeam {

  /** Spark's own rule, which puts exchanges and sorts where a plan lacks them. It keeps a user's
    * repartition, which was judged once already. */
  def ensureRequirements(plan: SparkPlan): SparkPlan =
    EnsureRequirements(optimizeOutRepartition = false)(plan)

  /** Whether the exchange is one that waits for its map stage: here each does. */
  def isBlocking(@unused exchange: ShuffleExchangeExec): Boolean = true

  def isRealTime(query: StreamExecution): Boolean = query.trigger.isInstanceOf[RealTimeTrigger]

  /** Lets `transformWithState` run on a state store provider that is not on Spark's own list, which
    * holds class names and so refuses subclasses. */
  def acceptProvider(plan: SparkPlan): SparkPlan = plan.transformUp {
    case tws: TransformWithStateExec if !tws.isInstanceOf[AnyProviderTransformWithState] =>
      AnyProviderTransformWithState(tws)
    case tws: TransformWithStateInPySparkExec
        if !tws.isInstanceOf[AnyProviderTransformWithStateInPySpark] =>
      AnyProviderTransformWithStateInPySpark(tws)
  }

  /** Whether the operator's second child is a state that the user gives it to start from. */
  def mayHaveInitialState(plan: SparkPlan): Boolean = plan match {
    case _: TransformWithStateExec | _: TransformWithStateInPySparkExec => true
    case _: FlatMapGroupsWithStateExec => true
    case _ => false
  }

  /** Whether it reads that state: in the first batch, where there is one. */
  def hasInitialState(plan: SparkPlan): Boolean = plan match {
    case tws: TransformWithStateExec => tws.hasInitialState
    case tws: TransformWithStateInPySparkExec => tws.hasInitialState
    case groups: FlatMapGroupsWithStateExec => groups.hasInitialState
    case _ => false
  }

  /** Whether the caller is Spark's state data source: the stores of joins, and those with column
    * families, it loads for writing, and aborts. */
  def isStateReader: Boolean = {
    val readers = "org.apache.spark.sql.execution.datasources.v2.state."
    StackWalker.getInstance().walk[Boolean](_.map(_.getClassName).anyMatch(name =>
      name.startsWith(readers) && name.contains("PartitionReader")
    ))
  }

  /** Creates a column family where the store has none of this name yet. */
  def createFamily(db: RocksDB, family: String, internal: Boolean): Unit =
    db.createColFamilyIfAbsent(family, internal): Unit

  /** Whether rows must be copied before they enter the shuffle: as
    * `ShuffleExchangeExec.needToCopyObjectsBeforeShuffle` decides for our serializer. */
  def mustCopyRows(partitions: Int): Boolean = {
    val env = SparkEnv.get
    env.shuffleManager match {
      case _: SortShuffleManager =>
        partitions > env.conf.get(SHUFFLE_SORT_BYPASS_MERGE_THRESHOLD) &&
        partitions > SortShuffleManager.MAX_SHUFFLE_OUTPUT_PARTITIONS_FOR_SERIALIZED_MODE
      case _ => true
    }
  }

  /** A shuffle of pairs (partition, row), with the checksums that Spark's own exchange asks for. */
  def shuffleDependency(
      pairs: RDD[Product2[Int, InternalRow]],
      partitions: Int,
      serializer: Serializer,
      writeMetrics: Map[String, SQLMetric]
  ): ShuffleDependency[Int, InternalRow, InternalRow] = {
    val conf = SQLConf.get
    val checksums =
      if (
        conf.shuffleOrderIndependentChecksumEnabled || conf.shuffleChecksumMismatchFullRetryEnabled
      )
        partitions
      else 0
    new ShuffleDependency[Int, InternalRow, InternalRow](
      pairs,
      new PartitionIdPassthrough(partitions),
      serializer,
      shuffleWriterProcessor = ShuffleExchangeExec.createShuffleWriteProcessor(writeMetrics),
      rowBasedChecksums = UnsafeRowChecksum.createUnsafeRowChecksums(checksums),
      _checksumMismatchFullRetryEnabled = conf.shuffleChecksumMismatchFullRetryEnabled,
      checksumMismatchQueryLevelRollbackEnabled =
        conf.shuffleChecksumMismatchQueryLevelRollbackEnabled
    )
  }
}
