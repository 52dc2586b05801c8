package org.apache.spark.sql.keyroute

import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.TransformWithStateInPySpark.UserFacingDataType
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.python.streaming.TransformWithStateInPySparkExec
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.TransformWithStateExec
import org.apache.spark.sql.streaming.{OutputMode, StatefulProcessor, TimeMode}
import org.apache.spark.sql.types.StructType

/** Spark's node, without its check of the provider's class name. The constructor is the parent's,
  * since Spark copies nodes by it; equality tells it from the parent, or a transformation that puts
  * it in the parent's place would be dropped as no change. */
final class AnyProviderTransformWithState(
    key: Expression,
    value: Expression,
    grouping: Seq[Attribute],
    data: Seq[Attribute],
    processor: StatefulProcessor[Any, Any, Any],
    time: TimeMode,
    mode: OutputMode,
    encoder: ExpressionEncoder[Any],
    outputObject: Attribute,
    info: Option[StatefulOperatorStateInfo],
    batchMs: Option[Long],
    prevBatchMs: Option[Long],
    lateWatermark: Option[Long],
    evictionWatermark: Option[Long],
    input: SparkPlan,
    streaming: Boolean,
    initial: Boolean,
    initialGrouping: Seq[Attribute],
    initialData: Seq[Attribute],
    initialDeserializer: Expression,
    initialInput: SparkPlan
) extends TransformWithStateExec(
      key,
      value,
      grouping,
      data,
      processor,
      time,
      mode,
      encoder,
      outputObject,
      info,
      batchMs,
      prevBatchMs,
      lateWatermark,
      evictionWatermark,
      input,
      streaming,
      initial,
      initialGrouping,
      initialData,
      initialDeserializer,
      initialInput
    ) {

  override def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): TransformWithStateExec =
    AnyProviderTransformWithState(super.withNewChildrenInternal(newLeft, newRight))

  override def nodeName: String = "TransformWithState"
  override def canEqual(other: Any): Boolean = other.isInstanceOf[AnyProviderTransformWithState]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}

object AnyProviderTransformWithState {
  def apply(t: TransformWithStateExec): AnyProviderTransformWithState = {
    val copy = new AnyProviderTransformWithState(
      t.keyDeserializer,
      t.valueDeserializer,
      t.groupingAttributes,
      t.dataAttributes,
      t.statefulProcessor,
      t.timeMode,
      t.outputMode,
      t.keyEncoder,
      t.outputObjAttr,
      t.stateInfo,
      t.batchTimestampMs,
      t.prevBatchTimestampMs,
      t.eventTimeWatermarkForLateEvents,
      t.eventTimeWatermarkForEviction,
      t.child,
      t.isStreaming,
      t.hasInitialState,
      t.initialStateGroupingAttrs,
      t.initialStateDataAttrs,
      t.initialStateDeserializer,
      t.initialState
    )
    copy.copyTagsFrom(t)
    copy
  }
}

/** As [[AnyProviderTransformWithState]], for Python (Row and pandas). */
final class AnyProviderTransformWithStateInPySpark(
    function: Expression,
    grouping: Seq[Attribute],
    outputColumns: Seq[Attribute],
    mode: OutputMode,
    time: TimeMode,
    info: Option[StatefulOperatorStateInfo],
    batchMs: Option[Long],
    prevBatchMs: Option[Long],
    lateWatermark: Option[Long],
    evictionWatermark: Option[Long],
    dataType: UserFacingDataType.Value,
    input: SparkPlan,
    streaming: Boolean,
    initial: Boolean,
    initialInput: SparkPlan,
    initialGrouping: Seq[Attribute],
    initialSchema: StructType
) extends TransformWithStateInPySparkExec(
      function,
      grouping,
      outputColumns,
      mode,
      time,
      info,
      batchMs,
      prevBatchMs,
      lateWatermark,
      evictionWatermark,
      dataType,
      input,
      streaming,
      initial,
      initialInput,
      initialGrouping,
      initialSchema
    ) {

  override def validateStateStoreProvider(isStreaming: Boolean): Unit = ()

  override protected def withNewChildrenInternal(
      newLeft: SparkPlan,
      newRight: SparkPlan
  ): TransformWithStateInPySparkExec =
    AnyProviderTransformWithStateInPySpark(super.withNewChildrenInternal(newLeft, newRight))

  override def nodeName: String = "TransformWithStateInPySpark"
  override def canEqual(other: Any): Boolean =
    other.isInstanceOf[AnyProviderTransformWithStateInPySpark]
  override def equals(other: Any): Boolean = canEqual(other) && super.equals(other)
  override def hashCode: Int = super.hashCode
}

object AnyProviderTransformWithStateInPySpark {
  def apply(t: TransformWithStateInPySparkExec): AnyProviderTransformWithStateInPySpark = {
    val copy = new AnyProviderTransformWithStateInPySpark(
      t.functionExpr,
      t.groupingAttributes,
      t.output,
      t.outputMode,
      t.timeMode,
      t.stateInfo,
      t.batchTimestampMs,
      t.prevBatchTimestampMs,
      t.eventTimeWatermarkForLateEvents,
      t.eventTimeWatermarkForEviction,
      t.userFacingDataType,
      t.child,
      t.isStreaming,
      t.hasInitialState,
      t.initialState,
      t.initialStateGroupingAttrs,
      t.initialStateSchema
    )
    copy.copyTagsFrom(t)
    copy
  }
}
