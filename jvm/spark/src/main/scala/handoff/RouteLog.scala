package org.apache.spark.sql.keyroute.handoff

import java.io.{InputStream, OutputStream}

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.checkpointing.HDFSMetadataLog
import org.apache.spark.sql.keyroute.route.{KeyRouteException, RunningBatch}

import io.keyroute.core.routelog.{RouteEntry, RouteEntryCodec}

/** `<checkpoint>/keyroute/routes/<batch>`: how each batch is routed, written before it runs. Spark's
  * own metadata log gives the writing (whole or not at all, the first wins) and the reading. */
final class RouteLog(session: SparkSession, layout: CheckpointLayout)
    extends HDFSMetadataLog[RouteEntry](session, layout.routes.toString) {

  override protected def serialize(entry: RouteEntry, out: OutputStream): Unit =
    out.write(RouteEntryCodec.encode(entry))

  override protected def deserialize(in: InputStream): RouteEntry =
    RouteEntryCodec.decode(in.readAllBytes())

  /** Writes the entry of a batch.
    * @throws KeyRouteException
    *   if there is one already: another driver runs on this checkpoint */
  def commit(entry: RouteEntry): Unit = {
    val won =
      try add(entry.batch, entry)
      catch {
        case e: Exception if !RunningBatch.isStopped(session) && batches.contains(entry.batch) =>
          throw lost(entry.batch, e)
      }
    if (!won) throw lost(entry.batch, null)
  }

  /** Another driver has written the entry of a batch. */
  def lost(batch: Long, cause: Throwable) = new KeyRouteException(
    s"another driver has just written the route entry of batch $batch of " +
      s"${layout.checkpoint}: two queries run on this checkpoint. This one stops; stop the other " +
      "one, or give each a checkpoint of its own.",
    cause
  )

  /** Batches that have an entry, ascending. */
  def batches: Seq[Long] = RouteLog.batches(layout)

  /** The entry of a batch that has one. */
  def entry(batch: Long): RouteEntry =
    try
      get(batch).filter(_.batch == batch).getOrElse(throw new KeyRouteException(
        s"the route entry of batch $batch of ${layout.checkpoint} has just vanished, or is that of " +
          "another batch: something else deletes or copies files of the checkpoint's folder keyroute"
      ))
    catch {
      case e: IllegalArgumentException =>
        throw new KeyRouteException(s"batch $batch of ${layout.checkpoint}: ${e.getMessage}", e)
    }

  /** Moves the entry and drops the handoff files of a batch of another timeline. */
  def moveAside(batch: Long, nowMs: Long): Unit = {
    layout.moveAside(batchIdToPath(batch), nowMs)
    layout.dropHandoffs(_ == batch)
    purgeCache(batch)
  }

  /** Drops the entry of a batch that Spark no longer keeps. */
  def drop(batch: Long): Unit = {
    val path: Path = batchIdToPath(batch)
    if (layout.files.exists(path)) layout.files.delete(path)
    purgeCache(batch)
  }

  private def purgeCache(batch: Long): Unit = batchCache.remove(batch)
}

object RouteLog {

  /** Whether the state that a batch begins with is laid out otherwise than by Spark's hash, as the
    * newest entry of this timeline says. Reads without a session. */
  def tableBefore(layout: CheckpointLayout, batch: Long): Boolean =
    batches(layout).filter(_ < batch).reverseIterator.map(read(layout, _))
      .find(e => !layout.hasOffsets(e.batch) || layout.isOfThisTimeline(e))
      .exists { e =>
        e.hasTable && !new TableStore(layout).get(e.tableVersion, e.tableHash).isEmpty
      }

  /** The newest entry up to a batch. */
  def newest(layout: CheckpointLayout, upTo: Long): Option[RouteEntry] =
    batches(layout).filter(_ <= upTo).lastOption.map(read(layout, _))

  /** Moves aside the entries from a batch on: they are of another timeline. */
  def moveAsideFrom(layout: CheckpointLayout, batch: Long, nowMs: Long): Unit =
    batches(layout).filter(_ >= batch).foreach(b => layout.moveAside(path(layout, b), nowMs))

  /** Batches that have an entry, ascending. */
  def batches(layout: CheckpointLayout): Seq[Long] =
    layout.names(layout.routes).flatMap(_.toLongOption).sorted

  private def read(layout: CheckpointLayout, batch: Long): RouteEntry =
    RouteEntryCodec.decode(layout.read(path(layout, batch)))

  private def path(layout: CheckpointLayout, batch: Long) =
    new Path(layout.routes, batch.toString)
}
