package org.apache.spark.sql.keyroute.adopt

import java.io.FileNotFoundException
import java.util.UUID

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.keyroute.handoff.{CheckpointLayout, RouteLog, TableStore}
import org.apache.spark.sql.keyroute.plugin.SparkSettings

/** A checkpoint cannot be taken over or given back; the text says why and what to do. */
final class OwnershipRefused(message: String) extends RuntimeException(message)

/** What was done.
  *
  * @param batch
  *   whose entry in the offset log was rewritten
  * @param backup
  *   where the entry is as it was
  */
final case class OwnershipChange(batch: Long, from: String, to: String, backup: Path)

/** Whose a stopped query's checkpoint is: the newest entry of its offset log names the state store
  * provider that the query starts with. Taking over and giving back rewrite that entry; taking over
  * leaves a mark that tells the next start why there is no route log.
  *
  * Done in an order that can be cut off anywhere: the entry comes last, and what was done before it
  * does nothing without it.
  */
final class Ownership(checkpoint: Path, conf: Configuration, nowMs: () => Long) {
  private val layout = new CheckpointLayout(checkpoint, conf)
  private val offsets = new Path(checkpoint, "offsets")
  private val commits = new Path(checkpoint, "commits")

  /** Lets a query of Spark alone go on under KeyRoute.
    *
    * @param quietMs
    *   how long the logs must not have changed
    * @param live
    *   ids of queries that are known to run
    * @throws OwnershipRefused
    *   if it is KeyRoute's already, its provider cannot be taken over, or it may be running */
  def adopt(quietMs: Long, live: Set[String]): OwnershipChange = {
    val (batch, entry) = newest()
    if (SparkSettings.originals.contains(entry.provider))
      refuse("it is KeyRoute's already: start the query with the jar")
    val twin = SparkSettings.twins.getOrElse(
      entry.provider,
      refuse(
        s"its state store provider is ${entry.provider}, whose state KeyRoute cannot move; it " +
          s"can with ${SparkSettings.twins.keys.toSeq.sorted.mkString(" and ")}"
      )
    )
    checkStopped(quietMs, live)
    if (layout.names(layout.routes).nonEmpty) {
      if (RouteLog.tableBefore(layout, batch + 1)) refuse(
        s"its state is laid out by a routing table (${layout.routes}), but it was never released: " +
          "restore the checkpoint from a copy"
      )
      layout.setAsideUntil(batch)
    }
    layout.markAdopted(batch)
    rewrite(batch, entry, twin)
  }

  /** Lets a query go on with Spark alone, without the jar. The route log stays, for a roll-back.
    *
    * @throws OwnershipRefused
    *   if it is not KeyRoute's, its state is not laid out as Spark's hash says, or it may be running
    */
  def release(quietMs: Long, live: Set[String]): OwnershipChange = {
    val (batch, entry) = newest()
    val original = SparkSettings.originals.getOrElse(
      entry.provider,
      refuse(s"it is not KeyRoute's: its state store provider is ${entry.provider}")
    )
    checkStopped(quietMs, live)
    checkBySpark(batch)
    val change = rewrite(batch, entry, original)
    try checkBySpark(batch)
    catch {
      case e: OwnershipRefused =>
        // Byte by byte: the route entry of the batch names the hash of this file.
        val path = new Path(offsets, batch.toString)
        layout.write(path, layout.read(change.backup), overwrite = true)
        throw new OwnershipRefused(s"the query ran meanwhile, nothing was changed: ${e.getMessage}")
    }
    change
  }

  private def newest(): (Long, OffsetEntry) = {
    val batch = names(offsets).flatMap(_.toLongOption).maxOption
      .getOrElse(refuse(s"there is no offset log in it: is $checkpoint the checkpoint of a query?"))
    (batch, OffsetEntry.decode(layout.read(new Path(offsets, batch.toString))))
  }

  private def checkStopped(quietMs: Long, live: Set[String]): Unit = {
    queryId.filter(live).foreach(id => refuse(s"query $id runs: stop it first"))
    val changed = for {
      folder <- Seq(offsets, commits)
      file <- Try(layout.files.list(folder).toSeq).getOrElse(Nil)
    } yield file.getModificationTime
    val age = nowMs() - changed.maxOption.getOrElse(0L)
    if (age < quietMs) refuse(
      s"its logs changed ${math.max(age, 0L) / 1000} s ago, so that the query may be running: stop it, " +
        s"and try again ${quietMs / 1000} s after that"
    )
  }

  /** Spark's file `metadata` has the query's id. */
  private def queryId: Option[String] =
    Try(new ObjectMapper().readTree(layout.read(new Path(checkpoint, "metadata"))))
      .toOption.map(_.path("id").asText()).filter(id => Try(UUID.fromString(id)).isSuccess)

  private def checkBySpark(batch: Long): Unit =
    RouteLog.newest(layout, batch) match {
      case None if layout.adoptedAt.isDefined => ()
      case None =>
        refuse(s"it has no route log (${layout.routes}): it is a copy without the folder keyroute")
      case Some(entry) if !entry.hasTable => ()
      case Some(entry) =>
        if (entry.batch < batch - 1) refuse(
          s"its route log ends with batch ${entry.batch}, its offset log with batch $batch: entries " +
            s"are missing in ${layout.routes}"
        )
        val tables = new TableStore(layout).get(entry.tableVersion, entry.tableHash)
        if (!tables.isEmpty) refuse(
          s"routing tables ${entry.tableVersion} are in force: start the query, run `keyroute tables " +
            "reset` on it, let a batch end, and stop it"
        )
        // Run again, as after a roll-back by one batch, it would begin with the table before.
        if (entry.switch.isDefined && entry.batch == batch) refuse(
          s"batch $batch, which takes all state back, is its newest: start the query again, let one " +
            "more batch end, and stop it"
        )
    }

  private def rewrite(batch: Long, entry: OffsetEntry, provider: String): OwnershipChange = {
    val path = new Path(offsets, batch.toString)
    val backup = new Path(layout.aside, s"offsets-$batch-${nowMs()}")
    layout.write(backup, layout.read(path), overwrite = false)
    layout.write(path, entry.withProvider(provider).encode, overwrite = true)
    OwnershipChange(batch, entry.provider, provider, backup)
  }

  private def names(folder: Path): Seq[String] =
    try layout.names(folder)
    catch { case _: FileNotFoundException => Nil }

  private def refuse(why: String): Nothing = throw new OwnershipRefused(s"$checkpoint: $why.")
}
