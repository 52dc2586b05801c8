package org.apache.spark.sql.keyroute.count

import scala.jdk.CollectionConverters._

import io.keyroute.proto.v1.BatchStatus

private[count] final case class BatchEnd(inputRows: Long, durationMs: Long, atMs: Long)

/** A batch that is not closed yet. */
private[count] final class PendingBatch(val counts: PeriodCounts) {
  val reports: BatchReports = new BatchReports
  var end: Option[BatchEnd] = None

  def status: BatchStatus = {
    val locality = counts.localRows
    val bytes = counts.shuffled
    BatchStatus.newBuilder().setBatch(counts.firstBatch).setTableVersion(counts.version)
      .setInputRows(end.fold(0L)(_.inputRows)).setDurationMs(end.fold(0L)(_.durationMs))
      .setEndedMs(end.fold(0L)(_.atMs))
      .setEdgeRows(locality.rows).setLocalRows(locality.local)
      .setLocalBytes(bytes.local).setRemoteBytes(bytes.remote)
      .addAllImbalance(counts.imbalances.map(Double.box).asJava)
      .addAllPartitionRows(counts.partitions.asJava)
      .build()
  }
}
