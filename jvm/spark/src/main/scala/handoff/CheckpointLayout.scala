package org.apache.spark.sql.keyroute.handoff

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager

import io.keyroute.core.table.ContentHash

/** Where KeyRoute's files lie in a query's checkpoint, and how they are read and written.
  *
  * @param checkpoint
  *   the query's checkpoint location
  */
final class CheckpointLayout(val checkpoint: Path, val hadoopConf: Configuration) {
  private val root = new Path(checkpoint, "keyroute")

  /** Route entries, one a batch, named by the batch. */
  val routes: Path = new Path(root, "routes")

  /** Serialised tables, named by version and hash. */
  val tables: Path = new Path(root, "tables")

  /** What is of another timeline, kept for people. */
  val aside: Path = new Path(root, "aside")

  private val handoffs = new Path(root, "handoff")

  /** Files of the handoff of a batch. */
  def handoff(batch: Long): Path = new Path(handoffs, batch.toString)

  lazy val files: CheckpointFileManager = CheckpointFileManager.create(root, hadoopConf)

  /** Lower-case hex SHA-256 of `offsets/<batch>`: the identity of a batch's input. */
  def offsetsHash(batch: Long): String = ContentHash.sha256(read(offsets(batch)))

  /** Whether Spark still keeps `offsets/<batch>`. */
  def hasOffsets(batch: Long): Boolean = files.exists(offsets(batch))

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

  /** Drops the handoff files of batches that a predicate picks: they can be made again. */
  def dropHandoffs(which: Long => Boolean): Unit =
    names(handoffs).flatMap(_.toLongOption).filter(which).foreach(b => files.delete(handoff(b)))
}
