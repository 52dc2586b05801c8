package org.apache.spark.sql.keyroute.handoff

import java.util.concurrent.atomic.AtomicInteger

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager
import org.apache.spark.{SparkEnv, TaskContext}

/** A checkpoint on a store that takes its time to create a handoff file, and does not heed an
  * interrupt meanwhile, as clients of object stores do. Spark's own setting names the class:
  * `spark.sql.streaming.checkpointFileManagerClass`. */
final class SlowFiles(path: Path, conf: Configuration)
    extends FileContextBasedCheckpointFileManager(path, conf) {

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean
  ): CancellableFSDataOutputStream = {
    if (path.getParent.getParent.getName == "handoff") SlowFiles.pass(path, conf)
    super.createAtomic(path, overwriteIfPossible)
  }
}

object SlowFiles {

  /** Milliseconds for each file. */
  val Ms = "keyroute.test.handoffFileMs"

  /** The only partition whose files are slow; all of them without it. */
  val Partition = "keyroute.test.slowPartition"

  /** The only executor where they are slow; all of them without it. */
  val Executor = "keyroute.test.slowExecutor"

  /** Files that are being created now, in this process. */
  val writing = new AtomicInteger()

  /** Those whose task had been told to end before they were there. */
  val outlived = new AtomicInteger()

  private val Uuid = 36

  private def pass(path: Path, conf: Configuration): Unit = {
    val partition = path.getName.dropRight(Uuid + 1).split('-').last.toInt
    val here = SparkEnv.get.executorId
    if (conf.getInt(Partition, partition) == partition && conf.get(Executor, here) == here) {
      writing.incrementAndGet()
      val end = System.nanoTime() + conf.getLong(Ms, 0L) * 1000000L
      var interrupted = false
      while (System.nanoTime() < end) {
        try Thread.sleep(math.max(1L, (end - System.nanoTime()) / 1000000L))
        catch { case _: InterruptedException => interrupted = true }
      }
      if (Option(TaskContext.get()).exists(_.isInterrupted())) outlived.incrementAndGet()
      writing.decrementAndGet()
      if (interrupted) Thread.currentThread().interrupt()
    }
  }
}
