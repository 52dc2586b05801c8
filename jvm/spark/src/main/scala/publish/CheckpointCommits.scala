package org.apache.spark.sql.keyroute.publish

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path

/** Spark's commit log, as far as the publisher asks it. */
private[publish] object CheckpointCommits {

  /** Whether the batch, or a later one, is committed. Older commits may have been purged.
    * @throws java.io.IOException
    *   where the checkpoint does not answer
    */
  def holds(query: RunningQuery, batch: Long): Boolean = {
    val commits = new Path(query.checkpoint, "commits")
    val names =
      try commits.getFileSystem(query.hadoopConf).listStatus(commits).map(_.getPath.getName)
      catch { case _: FileNotFoundException => Array.empty[String] }
    names.flatMap(_.toLongOption).exists(_ >= batch)
  }
}
