package org.apache.spark.sql.keyroute.handoff

import java.io.{ByteArrayInputStream, DataInputStream, IOException}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, Path}

/** The rows of one segment, checked. */
final class HandoffRows(families: IndexedSeq[String], bytes: Array[Byte]) {

  /** Gives family, key and value of each row. */
  def foreach(use: (String, Array[Byte], Array[Byte]) => Unit): Unit = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    while (in.available() > 0) {
      val family = families(in.readShort())
      use(family, part(in), part(in))
    }
  }

  private def part(in: DataInputStream): Array[Byte] = {
    val length = in.readInt()
    if (length < 0 || length > in.available()) throw new IOException(s"$length bytes in a row")
    val bytes = new Array[Byte](length)
    in.readFully(bytes)
    bytes
  }
}

/** Reads a file that [[HandoffWriter]] wrote. Nothing is given out before it is checked.
  *
  * @throws IOException
  *   from every method, if the file is not there or damaged
  */
final class HandoffReader(path: Path, conf: Configuration) extends AutoCloseable {
  import HandoffWriter._

  private val in: FSDataInputStream = path.getFileSystem(conf).open(path)
  private val (families, segmentsRead) =
    try readHeader()
    catch {
      case t: Throwable =>
        in.close()
        throw t
    }

  /** Targets ascending; offsets are of the file. */
  def segments: Seq[HandoffSegment] = segmentsRead

  /** Reads the rows for a target.
    *
    * @param rows
    *   that the segment must have, as well as the checksum
    */
  def read(target: Int, rows: Long, checksum: Long): HandoffRows = {
    val segment = segments.find(_.target == target)
      .getOrElse(damaged(s"there is nothing for partition $target"))
    val bytes = new Array[Byte](segment.length.toInt)
    in.readFully(segment.offset, bytes)
    val content = new HandoffRows(families, bytes)
    var (foundRows, foundSum) = (0L, 0L)
    try
      content.foreach { (family, key, value) =>
        foundRows += 1
        foundSum += RowChecksum.ofRow(family, key, value)
      }
    catch {
      // Lengths that are damaged: anything may come of them.
      case e @ (_: IOException | _: IndexOutOfBoundsException) =>
        damaged(s"its rows for partition $target cannot be read (${e.getMessage})")
    }
    if (foundRows != rows || foundSum != checksum) damaged(
      s"$foundRows rows with checksum $foundSum for partition $target, not $rows with $checksum"
    )
    content
  }

  private def readHeader(): (IndexedSeq[String], Seq[HandoffSegment]) = {
    val magic = in.readInt()
    val format = in.readInt()
    val length = in.readInt()
    if (magic != Magic || format != Format || length < 0 || length > MaxBytes) damaged("its head")
    val header = new Array[Byte](length)
    in.readFully(header)
    if (in.readLong() != RowChecksum.ofBytes(header)) damaged("its header")
    val data = new DataInputStream(new ByteArrayInputStream(header))
    val families = IndexedSeq.fill(data.readInt())(data.readUTF())
    val start = Prefix + length + HashLength
    val segments = Seq.fill(data.readInt())(HandoffSegment(
      data.readInt(),
      start + data.readLong(),
      data.readLong(),
      data.readLong(),
      data.readLong()
    ))
    (families, segments)
  }

  private def damaged(what: String): Nothing =
    throw new IOException(s"the handoff file $path is damaged: $what")

  override def close(): Unit = in.close()
}
