package org.apache.spark.sql.keyroute.handoff

import java.io.{ByteArrayOutputStream, DataOutputStream}

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.sql.keyroute.plugin.Settings

/** Gathers the rows that leave one store of one partition, and writes them as one file:
  *
  * {{{
  * int magic, int format, int header length, header, long hash of the header, segments
  * header:  int families, each UTF; int segments, each
  *          int target, long offset after the header, long length, long rows, long checksum
  * segment: rows, each short family, int key length, key, int value length, value
  * }}}
  *
  * @param partitions
  *   n
  * @param maxBytes
  *   that may leave: all these rows are in memory at once
  */
final class HandoffWriter(partitions: Int, maxBytes: Long) {
  import HandoffWriter._

  private val buffers = new Array[ByteArrayOutputStream](partitions)
  private val outs = new Array[DataOutputStream](partitions)
  private val rows = new Array[Long](partitions)
  private val sums = new Array[Long](partitions)
  private val families = mutable.LinkedHashMap.empty[String, Int]
  private var bytes = 0L

  /** Rows added so far. */
  def moved: Long = rows.sum

  /** @throws CannotMove
    *   if more leaves than may */
  def add(target: Int, family: String, key: Array[Byte], value: Array[Byte]): Unit = {
    if (outs(target) == null) {
      buffers(target) = new ByteArrayOutputStream
      outs(target) = new DataOutputStream(buffers(target))
    }
    val out = outs(target)
    out.writeShort(families.getOrElseUpdate(family, families.size))
    out.writeInt(key.length)
    out.write(key)
    out.writeInt(value.length)
    out.write(value)
    rows(target) += 1
    sums(target) += RowChecksum.ofRow(family, key, value)
    bytes += 10L + key.length + value.length
    if (bytes > maxBytes) throw new CannotMove(
      s"more than $maxBytes bytes of state would leave one partition at once: move fewer keys in " +
        s"one table, or raise ${Settings.handoffMaxBytes.key}"
    )
  }

  /** What was added, without offsets: targets ascending. */
  private def targets: Seq[Int] = rows.indices.filter(rows(_) > 0)

  /** Writes the file, unless there is nothing to write.
    * @return
    *   the segments, targets ascending */
  def write(path: Path, conf: Configuration): Seq[HandoffSegment] =
    if (targets.isEmpty) Nil
    else {
      val header = encodeHeader()
      val start = Prefix + header.length + HashLength
      val out = CheckpointFileManager.create(path.getParent, conf)
        .createAtomic(path, overwriteIfPossible = false)
      try {
        val data = new DataOutputStream(out)
        data.writeInt(Magic)
        data.writeInt(Format)
        data.writeInt(header.length)
        data.write(header)
        data.writeLong(RowChecksum.ofBytes(header))
        targets.foreach(t => buffers(t).writeTo(data))
        data.close()
      } catch {
        case t: Throwable =>
          out.cancel()
          throw t
      }
      segments.map(s => s.copy(offset = s.offset + start))
    }

  private def segments: Seq[HandoffSegment] = {
    var offset = 0L
    targets.map { t =>
      val segment = HandoffSegment(t, offset, buffers(t).size.toLong, rows(t), sums(t))
      offset += segment.length
      segment
    }
  }

  private def encodeHeader(): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new DataOutputStream(bytes)
    out.writeInt(families.size)
    families.keys.foreach(out.writeUTF)
    out.writeInt(targets.size)
    segments.foreach { s =>
      out.writeInt(s.target)
      out.writeLong(s.offset)
      out.writeLong(s.length)
      out.writeLong(s.rows)
      out.writeLong(s.checksum)
    }
    bytes.toByteArray
  }
}

object HandoffWriter {
  val Magic: Int = 0x4b52484f
  val Format: Int = 1

  /** Bytes before the header, and of its hash. */
  val Prefix: Int = 12
  val HashLength: Int = 8

  /** No file is larger. */
  val MaxBytes: Long = 1L << 30
}
