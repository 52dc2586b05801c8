package org.apache.spark.sql.keyroute.count

import scala.collection.mutable

/** Rows of an exchange, and those that were read on the executor whose map task wrote them. */
final case class LocalRows(rows: Long, local: Long) {
  def +(other: LocalRows): LocalRows = LocalRows(rows + other.rows, local + other.local)
}

object LocalRows {
  val none: LocalRows = LocalRows(0, 0)
}

/** Measures the locality of one exchange of one batch: rows by map task and partition joined with
  * the executor that read the partition. Either side may come first; each call answers the rows
  * that it completes, so that every row is answered once.
  *
  * @param partitions
  *   n
  */
private[count] final class ExchangeReads(partitions: Int) {
  private val written = mutable.HashMap.empty[String, Array[Long]]
  private val readers = new Array[String](partitions)

  /** A map task on the executor sent so many rows to each partition. */
  def wrote(executor: String, rows: IndexedSeq[Long]): LocalRows = {
    val sums = written.getOrElseUpdate(executor, new Array[Long](partitions))
    rows.indices.foldLeft(LocalRows.none) { (found, p) =>
      sums(p) += rows(p)
      if (readers(p) == null) found else found + of(executor, p, rows(p))
    }
  }

  /** A reduce task on the executor read the partition. The first to say so counts. */
  def read(partition: Int, executor: String): LocalRows =
    if (partition < 0 || partition >= partitions || readers(partition) != null) LocalRows.none
    else {
      readers(partition) = executor
      written.foldLeft(LocalRows.none) { case (found, (writer, rows)) =>
        found + of(writer, partition, rows(partition))
      }
    }

  private def of(writer: String, partition: Int, rows: Long): LocalRows =
    LocalRows(rows, if (writer == readers(partition)) rows else 0)
}
