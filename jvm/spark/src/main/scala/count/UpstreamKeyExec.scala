package org.apache.spark.sql.keyroute.count

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  Expression,
  SortOrder,
  UnsafeProjection
}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.keyroute.route.KeyHash

/** Notes the upstream key of each row, for an exchange above whose rows do not have it. The rows stay as
  * they are.
  *
  * @param columns
  *   of the upstream key
  * @param exchangeKey
  *   the exchange's key over the child's columns, where a partial aggregation is in between; else empty,
  *   and the exchange reads the very rows
  * @param output
  *   the child's, or what there would be of it without the upstream key
  */
final case class UpstreamKeyExec(
    columns: Seq[Expression],
    exchangeKey: Seq[Expression],
    output: Seq[Attribute],
    child: SparkPlan
)(val upstream: UpstreamKey, val batch: Long, val mostKeys: Int)
    extends UnaryExecNode {
  override def nodeName: String = "NoteUpstreamKey"
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override protected def otherCopyArgs: Seq[AnyRef] =
    Seq(upstream, Long.box(batch), Int.box(mostKeys))

  override protected def doExecute(): RDD[InternalRow] = {
    val notes = NotedRows(
      KeyHash(columns, columns.indices),
      exchangeKey,
      child.output,
      Option.when(output != child.output)(output),
      batch,
      mostKeys
    )
    child.execute().mapPartitionsInternal(notes.of)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)(upstream, batch, mostKeys)
}

/** The rows of a task, each noted before it is handed on. */
private final case class NotedRows(
    upstream: KeyHash,
    exchangeKey: Seq[Expression],
    input: Seq[Attribute],
    output: Option[Seq[Attribute]],
    batch: Long,
    mostKeys: Int
) {

  def of(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val task = TaskContext.get()
    val notes = UpstreamNotes.of(task)
    val pass = output.map(UnsafeProjection.create(_, input))
    val noted: InternalRow => Unit =
      if (exchangeKey.isEmpty) {
        val key = UnsafeProjection.create(Seq(upstream.fingerprint, upstream.hash), input)
        row => {
          val numbers = key(row)
          notes.note(numbers.getLong(0), numbers.getInt(1))
        }
      } else {
        val keys = new UpstreamOfKeys(mostKeys, UpstreamOfKeys.seed(batch, task.partitionId()))
        notes.keep(keys)
        val key = UnsafeProjection.create(
          Seq(
            upstream.fingerprint,
            upstream.hash,
            KeyHash(exchangeKey, exchangeKey.indices).fingerprint
          ),
          input
        )
        row => {
          val numbers = key(row)
          keys.note(numbers.getLong(2), numbers.getLong(0), numbers.getInt(1))
        }
      }
    rows.map { row =>
      noted(row)
      pass.fold(row)(_.apply(row))
    }
  }
}
