package org.apache.spark.sql.keyroute.handoff

import java.io.{IOException, InterruptedIOException}
import java.nio.channels.ClosedByInterruptException

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.keyroute.route.KeyRouteException

import io.keyroute.core.table.{InvalidTable, RoutingTables, TableCodec}

/** `<checkpoint>/keyroute/tables/<version>-<first 12 digits of the hash>`: the tables that route
  * entries name. Files are never changed. */
final class TableStore(layout: CheckpointLayout) {

  /** Stores tables and reads them back; does nothing where they are there.
    * @throws KeyRouteException
    *   if what is read back is not what was written */
  def put(tables: RoutingTables): Unit =
    if (!holds(tables.version, tables.hash)) {
      layout.write(path(tables.version, tables.hash), TableCodec.encode(tables), overwrite = true)
      get(tables.version, tables.hash): Unit
    }

  /** Whether the tables can be read, whole. */
  private def holds(version: Long, hash: String): Boolean =
    layout.files.exists(path(version, hash)) && (
      try get(version, hash).version == version
      catch { case _: KeyRouteException => false }
    )

  /** Reads tables and checks version and hash.
    * @throws KeyRouteException
    *   if they are not there or damaged */
  def get(version: Long, hash: String): RoutingTables = {
    val file = path(version, hash)
    def fail(why: String, cause: Throwable) = throw new KeyRouteException(
      s"routing tables $version cannot be read from $file: $why. Restore the checkpoint's folder " +
        "keyroute/tables from a copy.",
      cause
    )
    try {
      val tables = TableCodec.decode(layout.read(file), Some(hash))
      if (tables.version != version) fail(s"they are version ${tables.version}", null)
      tables
    } catch {
      // Perhaps the query is being stopped, which Spark knows by these; nothing to be restored.
      case e @ (_: InterruptedIOException | _: ClosedByInterruptException) => throw e
      case e: IOException => fail(String.valueOf(e.getMessage), e)
      case e: InvalidTable => fail(e.getMessage, e)
    }
  }

  /** Drops versions below one, but for those named.
    *
    * @param keep
    *   version and hash of tables that a route entry names
    */
  def purge(below: Long, keep: Set[(Long, String)]): Unit = {
    val kept = keep.map { case (version, hash) => path(version, hash).getName }
    for {
      name <- layout.names(layout.tables) if !kept.contains(name)
      version <- name.takeWhile(_ != '-').toLongOption if version < below
    } layout.files.delete(new Path(layout.tables, name))
  }

  private def path(version: Long, hash: String): Path =
    new Path(layout.tables, s"$version-${hash.take(12)}")
}
