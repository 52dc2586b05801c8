package org.apache.spark.sql.keyroute.handoff

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import io.keyroute.core.routelog.RouteEntry
import io.keyroute.core.table.ContentHash

/** Where KeyRoute's files lie in a query's checkpoint, and how they are read and written.
  *
  * @param checkpoint
  *   the query's checkpoint location
  */
final class CheckpointLayout(val checkpoint: Path, val hadoopConf: Configuration) {
  private val root = new Path(checkpoint, "keyroute")

  /** Whether the checkpoint has a folder of ours. Spark's own folder is listed: it may be readable
    * where ours is not. */
  def exists: Boolean = names(checkpoint).contains(root.getName)

  /** Whether it has one, or may have one. */
  def mayExist: Boolean =
    try exists
    catch { case NonFatal(_) => true }

  /** Route entries, one a batch, named by the batch. */
  val routes: Path = new Path(root, "routes")

  /** Serialised tables, named by version and hash. */
  val tables: Path = new Path(root, "tables")

  /** What is of another timeline, kept for people. */
  val aside: Path = new Path(root, "aside")

  /** Mark: the query ran without KeyRoute before this batch, and has run under it since. It stays,
    * for who rolls back to that batch. */
  private val adopted = new Path(root, "adopted")

  private val handoffs = new Path(root, "handoff")

  /** Files of the handoff of a batch. */
  def handoff(batch: Long): Path = new Path(handoffs, batch.toString)

  lazy val files: CheckpointFileManager = CheckpointFileManager.create(root, hadoopConf)

  /** Lower-case hex SHA-256 of `offsets/<batch>`: the identity of a batch's input. */
  def offsetsHash(batch: Long): String = ContentHash.sha256(read(offsets(batch)))

  /** Whether Spark still keeps `offsets/<batch>`. */
  def hasOffsets(batch: Long): Boolean = files.exists(offsets(batch))

  /** Whether an entry was written for the input that its batch has now. */
  def isOfThisTimeline(entry: RouteEntry): Boolean =
    entry.offsetsHash == offsetsHash(entry.batch)

  private def offsets(batch: Long) = new Path(new Path(checkpoint, "offsets"), batch.toString)

  def read(path: Path): Array[Byte] = {
    val in = files.open(path)
    try in.readAllBytes()
    finally in.close()
  }

  /** Writes a whole file or none of it. */
  def write(path: Path, bytes: Array[Byte], overwrite: Boolean): Unit = {
    if (!files.exists(path.getParent)) files.mkdirs(path.getParent)
    val out = files.createAtomic(path, overwrite)
    try {
      out.write(bytes)
      out.close()
    } catch {
      case t: Throwable =>
        out.cancel()
        throw t
    }
  }

  /** Names of the files and folders in a folder; none where it does not exist. */
  def names(folder: Path): Seq[String] =
    if (files.exists(folder)) {
      files.list(folder).toSeq.map(_.getPath.getName).filterNot(_.startsWith("."))
    } else Nil

  /** Moves a file to [[aside]], under a name that says where it was. */
  def moveAside(path: Path, nowMs: Long): Unit = {
    write(
      new Path(aside, s"${path.getParent.getName}-${path.getName}-$nowMs"),
      read(path),
      overwrite = true
    )
    files.delete(path)
  }

  /** Renames a file of the checkpoint's state, which may be large, to one in [[aside]] whose name says
    * where it was. */
  def moveStateAside(path: Path, nowMs: Long): Unit = {
    if (!files.exists(aside)) files.mkdirs(aside)
    val fs = root.getFileSystem(hadoopConf)
    val from = fs.makeQualified(checkpoint).toUri.relativize(fs.makeQualified(path).toUri).getPath
    val to = new Path(aside, s"${from.replace('/', '-')}-$nowMs")
    if (!fs.rename(path, to)) throw new IOException(s"$path cannot be renamed to $to")
  }

  /** The batch at which the query was adopted, where it was. */
  def adoptedAt: Option[Long] =
    if (files.exists(adopted)) new String(read(adopted), UTF_8).trim.toLongOption else None

  def markAdopted(batch: Long): Unit =
    write(adopted, s"$batch\n".getBytes(UTF_8), overwrite = true)

  /** Renames the whole folder: it tells of the query until a batch. */
  def setAsideUntil(batch: Long): Unit = {
    val fs = root.getFileSystem(hadoopConf)
    val to = new Path(checkpoint, s"keyroute-until-$batch")
    if (!fs.rename(root, to)) throw new IOException(s"$root cannot be renamed to $to")
  }

  /** Drops the handoff files of batches that a predicate picks: they can be made again. */
  def dropHandoffs(which: Long => Boolean): Unit =
    names(handoffs).flatMap(_.toLongOption).filter(which).foreach(b => files.delete(handoff(b)))
}
