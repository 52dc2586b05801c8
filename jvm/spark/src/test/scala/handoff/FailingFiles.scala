package org.apache.spark.sql.keyroute.handoff

import java.io.IOException

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path, PathFilter}

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager

/** A checkpoint on a store that fails where a test says so. Spark's own setting names the class:
  * `spark.sql.streaming.checkpointFileManagerClass`. */
final class FailingFiles(root: Path, conf: Configuration)
    extends FileContextBasedCheckpointFileManager(root, conf) {
  import FailingFiles.pass

  override def exists(path: Path): Boolean = {
    pass(path, writes = false)
    super.exists(path)
  }

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = {
    pass(path, writes = false)
    super.list(path, filter)
  }

  override def open(path: Path): FSDataInputStream = {
    pass(path, writes = false)
    super.open(path)
  }

  override def mkdirs(path: Path): Unit = {
    pass(path, writes = true)
    super.mkdirs(path)
  }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream = {
    pass(path, writes = true)
    super.createAtomic(path, overwriteIfPossible)
  }
}

object FailingFiles {
  val Setting: (String, String) =
    "spark.sql.streaming.checkpointFileManagerClass" -> classOf[FailingFiles].getName

  /** Of a path, and whether it is to be written. */
  @volatile var fails: (Path, Boolean) => Boolean = works

  def works: (Path, Boolean) => Boolean = (_, _) => false

  /** All of a checkpoint's folder keyroute. */
  def ours: (Path, Boolean) => Boolean = (path, _) => isOurs(path)

  /** Route entries that are written; their folder is there. */
  def newEntries: (Path, Boolean) => Boolean =
    (path, writes) => writes && path.getParent.getName == "routes"

  private def isOurs(path: Path) = s"${path.toUri.getPath}/".contains("/keyroute/")

  private def pass(path: Path, writes: Boolean): Unit =
    if (fails(path, writes)) throw new IOException(s"the test's store fails at $path")
}
