package org.apache.spark.sql.keyroute.handoff

import java.io.IOException
import java.util.UUID

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.internal.Logging
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreProviderId}
import org.apache.spark.sql.keyroute.route.KeyRouteException
import org.apache.spark.sql.keyroute.state.{LoadedStores, PrivateState, RawState, StoreKeys}
import org.apache.spark.util.SerializableConfiguration
import org.apache.spark.{SparkEnv, TaskKilledException}

import io.keyroute.core.table.{GroupShape, RoutingTables}

/** One store of one partition, at the version that the batch loads.
  *
  * @param checkpointId
  *   the version's unique id, in checkpoint format 2
  */
final case class HandoffSource(
    keys: StoreKeys,
    shape: GroupShape,
    provider: StateStoreProviderId,
    version: Long,
    checkpointId: Option[String]
) {
  def partition: Int = provider.storeId.partitionId
}

/** What a handoff task found. Failures are values: a task that fails trips the state store's own
  * listeners. */
sealed trait HandoffResult

/** @param rowsSeen
  *   0 where an older file was found whole */
final case class HandedOff(file: HandoffFile, rowsSeen: Long) extends HandoffResult

/** @param notLoaded
  *   the store is not in memory here: another executor may have it
  * @param forGood
  *   whether no later batch will do better with the same tables
  */
final case class NotHandedOff(reason: String, notLoaded: Boolean, forGood: Boolean = false)
    extends HandoffResult

/** Why some state cannot be moved, in this batch or a later one. */
final class CannotMove(message: String) extends KeyRouteException(message)

/** What one task does for one store of one partition. */
sealed trait HandoffTask extends Serializable {
  def run(source: HandoffSource, conf: Configuration): HandoffResult
}

/** Both tables of a switch, and where its files go.
  *
  * @param maxBytes
  *   that may leave one store of one partition
  */
final case class HandoffTables(
    from: Broadcast[RoutingTables],
    to: Broadcast[RoutingTables],
    folder: String,
    maxBytes: Long
) {

  /** Scans a source and writes its file. */
  def write(source: HandoffSource, state: RawState, conf: Configuration): HandedOff = {
    val group = source.shape
    val writer = new HandoffWriter(group.partitions, maxBytes)
    val scan = new PartitionScan(
      source.keys,
      source.partition,
      from.value.tableFor(group),
      to.value.tableFor(group)
    )
    val seen = scan.run(state, writer)
    val path = new Path(
      folder,
      s"${source.keys.operator}-${source.keys.store}-${source.partition}-${UUID.randomUUID()}"
    )
    val segments = writer.write(path, conf)
    HandedOff(
      HandoffFile(
        source.keys.operator,
        source.keys.store,
        source.partition,
        path.toString,
        segments
      ),
      seen
    )
  }
}

/** Reads the store where it is loaded. */
final case class ScanLoaded(tables: HandoffTables) extends HandoffTask {
  override def run(source: HandoffSource, conf: Configuration): HandoffResult =
    HandoffTask.guarded {
      LoadedStores.find(source.provider)
        .flatMap(_.readLoaded(source.version, source.checkpointId)(tables.write(source, _, conf)))
        .getOrElse(NotHandedOff(
          s"the state of operator ${source.keys.operator}, partition ${source.partition}, is not " +
            s"loaded on executor ${SparkEnv.get.executorId}",
          notLoaded = true
        ))
    }
}

/** Reads the version from the checkpoint, wherever it runs. */
final case class Pull(tables: HandoffTables, storeConf: StateStoreConf) extends HandoffTask {
  override def run(source: HandoffSource, conf: Configuration): HandoffResult =
    HandoffTask.guarded {
      PrivateState.read(
        source.keys,
        source.provider.storeId,
        source.version,
        source.checkpointId,
        storeConf,
        conf
      )(tables.write(source, _, conf))
    }
}

/** Takes the file of an earlier attempt of the batch if it is whole, else pulls.
  *
  * @param files
  *   as the route entry names them, with segments' rows and checksums
  */
final case class Restore(files: Seq[HandoffFile], pull: Pull) extends HandoffTask {
  override def run(source: HandoffSource, conf: Configuration): HandoffResult = {
    val wanted = files.find { f =>
      f.operator == source.keys.operator && f.store == source.keys.store &&
      f.source == source.partition
    }
    wanted.flatMap(whole(_, conf)).map(HandedOff(_, 0L)).getOrElse(pull.run(source, conf))
  }

  /** The file with its offsets, if every segment is there and right. */
  private def whole(file: HandoffFile, conf: Configuration): Option[HandoffFile] =
    if (file.segments.isEmpty) Some(file)
    else
      try {
        val reader = new HandoffReader(new Path(file.path), conf)
        try {
          file.segments.foreach(s => reader.read(s.target, s.rows, s.checksum))
          Some(file.copy(segments = reader.segments))
        } finally reader.close()
      } catch { case _: IOException => None }
}

object HandoffTask extends Logging {
  private[handoff] def guarded(result: => HandoffResult): HandoffResult =
    try result
    catch {
      case e: TaskKilledException => throw e
      case e: CannotMove => NotHandedOff(e.getMessage, notLoaded = false, forGood = true)
      case NonFatal(e) =>
        logWarning("KeyRoute: state is not handed off", e)
        NotHandedOff(e.toString, notLoaded = false)
    }
}

/** The configuration that tasks read and write the checkpoint with. */
final case class HandoffConf(conf: Broadcast[SerializableConfiguration]) {
  def value: Configuration = conf.value.value
}
