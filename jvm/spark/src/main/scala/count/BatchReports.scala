package org.apache.spark.sql.keyroute.count

import scala.collection.mutable

import io.keyroute.proto.v1.{MapTaskCounts, ReduceTaskReads}

/** The reports of one batch: lets each through once, and measures locality. Speculative, repeated
  * and recomputed tasks report again; the first counts. Not thread-safe. */
private[count] final class BatchReports {
  private val seen = mutable.HashSet.empty[(Long, Int, Int)]
  private val runs = mutable.HashSet.empty[(Long, Int)]
  private val exchanges = mutable.HashMap.empty[(Long, Int), ExchangeReads]
  private val edges = mutable.HashMap.empty[(Long, Int), Edge]

  /** Whether the report is the first of its map task. */
  def first(counts: MapTaskCounts): Boolean = seen.size < BatchReports.Most &&
    seen.add((counts.getGroup, counts.getExchange, counts.getMapPartition))

  /** Whether the report is the first of a task of its partition: one that reads two exchanges reports
    * twice. */
  def firstRun(reads: ReduceTaskReads): Boolean =
    runs.size < BatchReports.Most && runs.add((reads.getGroup, reads.getPartition))

  /** Rows that the report completes; none where the rows come from no other group. */
  def wrote(counts: MapTaskCounts): Option[(Edge, LocalRows)] =
    PeriodCounts.edgeOf(counts).map { edge =>
      val key = (counts.getGroup, counts.getExchange)
      edges.getOrElseUpdate(key, edge)
      val rows = IndexedSeq.tabulate(counts.getPartitionRowsCount)(counts.getPartitionRows(_))
      val reads = exchanges.getOrElseUpdate(key, new ExchangeReads(rows.size))
      edges(key) -> reads.wrote(counts.getExecutor, rows)
    }

  /** Rows that the reads complete.
    * @param partitions
    *   n of the group
    */
  def read(reads: ReduceTaskReads, partitions: Int): Option[(Edge, LocalRows)] = {
    val key = (reads.getGroup, reads.getExchange)
    if (exchanges.size >= BatchReports.Most && !exchanges.contains(key)) None
    else {
      val rows = exchanges.getOrElseUpdate(key, new ExchangeReads(partitions))
        .read(reads.getPartition, reads.getExecutor)
      // Where no map task has reported yet there is no edge, and no row either.
      edges.get(key).map(_ -> rows)
    }
  }
}

private[count] object BatchReports {
  // Map tasks of a batch; a batch with more is counted in part.
  val Most: Int = 200000
}
