package org.apache.spark.sql.keyroute.handoff

import org.apache.hadoop.fs.Path

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.execution.streaming.state.{StateStoreConf, StateStoreProviderId}
import org.apache.spark.sql.keyroute.plugin.Settings
import org.apache.spark.sql.keyroute.publish.SwitchFigures
import org.apache.spark.sql.keyroute.route.{KeyRouteException, PlannedBatch}
import org.apache.spark.sql.keyroute.state.StoreKeys

import io.keyroute.core.routelog.{MovedRows, Switch => LoggedSwitch}
import io.keyroute.core.table.{GroupShape, RoutingTables}

/** A handoff that worked: what the tasks are told, and what is written down. */
private[handoff] final case class Switched(
    switch: Switch,
    moved: Seq[MovedRows],
    rowsSeen: Long,
    handoffMs: Long,
    pulled: Boolean
)

/** Moves the state of one batch's version from one set of tables to another.
  *
  * @param stores
  *   of all routed operators
  * @param from
  *   complete, as is `to`
  */
private[handoff] final class Handoff(
    batch: PlannedBatch,
    layout: CheckpointLayout,
    shapes: Seq[GroupShape],
    stores: Seq[StoreKeys],
    from: Broadcast[RoutingTables],
    to: Broadcast[RoutingTables]
) {
  private val folder = layout.handoff(batch.batch)
  private val storeConf = new StateStoreConf(batch.session.sessionState.conf)
  private val job = new HandoffJob(batch.session, batch.batch)

  /** Every store of every partition of a routed operator. */
  private val places: Seq[HandoffSource] = for {
    shape <- shapes
    keys <- stores if shape.operators.contains(keys.operator)
    planned <- batch.operators if planned.id == keys.operator
    partition <- 0 until shape.partitions
  } yield HandoffSource(
    keys,
    shape,
    StateStoreProviderId(planned.info, partition, keys.store),
    batch.batch,
    planned.info.stateStoreCkptIds.map(_(partition)(planned.stores.indexOf(keys.store)))
  )

  /** Those that may have something to hand off: none before the first version. */
  private val sources: Seq[HandoffSource] =
    if (batch.batch == 0) Nil
    else places.filter { s =>
      s.keys.families.nonEmpty && from.value.tableFor(s.shape) != to.value.tableFor(s.shape)
    }

  /** Hands off what moves.
    *
    * @param fromCheckpoint
    *   whether to read the version from the checkpoint, wherever its stores are loaded
    * @return
    *   or why not */
  def attempt(fromCheckpoint: Boolean): Either[NotHandedOff, Switched] = {
    val start = System.nanoTime()
    if (sources.nonEmpty) layout.files.mkdirs(folder)
    val timeout = Settings.handoffTimeoutMs.orDefault(batch.session.conf.getOption)
    val maxBytes = Settings.handoffMaxBytes.orDefault(batch.session.conf.getOption)
    val tables = HandoffTables(from, to, folder.toString, maxBytes)
    val results =
      if (fromCheckpoint) job.run(sources, Pull(tables, storeConf), atStores = false, Some(timeout))
      else job.run(sources, ScanLoaded(tables), atStores = true, Some(timeout))
    val failures = results.collect { case n: NotHandedOff => n }
    val done = results.collect { case h: HandedOff => h }
    failures.find(_.forGood).orElse(failures.headOption)
      .orElse(Handoff.tooLarge(done.map(_.file), maxBytes)).toLeft(
        Switched(
          switch(done.map(_.file)),
          done.flatMap(h => moved(h.file)),
          done.map(_.rowsSeen).sum,
          (System.nanoTime() - start) / 1000000,
          fromCheckpoint
        )
      )
  }

  /** The switch of a batch that is run again: files that are lost or damaged are made anew from the
    * same version, and must hold the same rows.
    * @throws KeyRouteException
    *   if they cannot */
  def restore(logged: LoggedSwitch): Switch = {
    val wanted = logged.moved.groupBy(m => (m.operator, m.store, m.source)).map {
      case (_, rows) =>
        val first = rows.head
        HandoffFile(
          first.operator,
          first.store,
          first.source,
          new Path(folder, first.file).toString,
          rows.sortBy(_.target).map(m => HandoffSegment(m.target, 0L, 0L, m.rows, m.checksum))
        )
    }.toSeq
    val needed = wanted.map { file =>
      sources.find(s => Handoff.key(s) == Handoff.key(file)).getOrElse(fail(
        s"rows of operator ${file.operator} move, but it is not in the plan"
      ))
    }
    if (needed.nonEmpty) layout.files.mkdirs(folder)
    // Decided already: what may be moved in one table does not matter any more.
    val pull =
      Pull(HandoffTables(from, to, folder.toString, HandoffWriter.MaxBytes), storeConf)
    val files = job.run(needed, Restore(wanted, pull), atStores = false, None).map {
      case HandedOff(file, _) => file
      case failed: NotHandedOff => fail(failed.reason)
    }
    val rows = (m: MovedRows) => (m.operator, m.store, m.source, m.target, m.rows, m.checksum)
    if (files.flatMap(moved).map(rows).toSet != logged.moved.map(rows).toSet)
      fail("the state of its version is not what it was when the switch was decided")
    switch(files)
  }

  private def switch(files: Seq[HandoffFile]): Switch = {
    val made = files.map(f => Handoff.key(f) -> f).toMap
    Switch(
      from.value.version,
      to.value.version,
      places.map { s =>
        made.getOrElse(
          Handoff.key(s),
          HandoffFile(s.keys.operator, s.keys.store, s.partition, "", Nil)
        )
      }
    )
  }

  private def moved(file: HandoffFile): Seq[MovedRows] = file.segments.map(s =>
    MovedRows(
      file.operator,
      file.store,
      file.source,
      s.target,
      s.rows,
      s.checksum,
      new Path(file.path).getName
    )
  )

  private def fail(why: String): Nothing = throw new KeyRouteException(
    s"batch ${batch.batch} of ${batch.checkpoint} switches routing tables and cannot be run " +
      s"again: $why"
  )
}

private[handoff] object Handoff {
  private def key(s: HandoffSource): (Long, String, Int) =
    (s.keys.operator, s.keys.store, s.partition)

  private def key(f: HandoffFile): (Long, String, Int) = (f.operator, f.store, f.source)

  /** Who applies the switch holds one segment at a time, but its store holds all that changes until
    * it commits. What leaves is checked where it is written. */
  private def tooLarge(files: Seq[HandoffFile], maxBytes: Long): Option[NotHandedOff] =
    files.flatMap(f => f.segments.map(s => (f.operator, f.store, s.target) -> s.length))
      .groupMapReduce(_._1)(_._2)(_ + _)
      .collectFirst {
        case ((operator, _, target), bytes) if bytes > maxBytes =>
          NotHandedOff(
            s"$bytes bytes of state of operator $operator would arrive at partition $target at " +
              s"once, more than $maxBytes: move fewer keys in one table, or raise " +
              Settings.handoffMaxBytes.key,
            notLoaded = false,
            forGood = true
          )
      }

  /** @param toHash
    *   of the tables as they were published */
  def figures(batch: Long, switched: Switched, toHash: String): SwitchFigures =
    SwitchFigures(
      batch,
      switched.switch.fromVersion,
      switched.switch.toVersion,
      switched.moved.map(_.rows).sum,
      switched.rowsSeen,
      switched.handoffMs,
      switched.pulled,
      toHash
    )
}
