package org.apache.spark.sql.keyroute.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.handoff.{
  HandoffFile,
  HandoffReader,
  HandoffRows,
  HandoffSegment,
  Switch
}
import org.apache.spark.sql.keyroute.route.KeyRouteException

/** Applies a switch to one store of one partition. */
final class MovedRowsApply(id: StateStoreId, switch: Switch, conf: Configuration) {
  private val me = id.partitionId
  private val files =
    switch.files.filter(f => f.operator == id.operatorId && f.store == id.storeName)

  /** Reads and checks all there is to read; then removes what leaves and puts what comes. Each
    * segment is read twice, so that no more than one is in memory.
    * @throws KeyRouteException
    *   if a row that leaves is not here, or one that comes is here already
    * @throws java.io.IOException
    *   if a file is lost or damaged: the query makes it anew when it starts again */
  def apply(store: RawWriter): Unit = {
    val own = files.find(_.source == me).getOrElse(fail(
      s"the switch to version ${switch.toVersion} does not say what leaves it"
    ))
    val leaving = own.segments
    // In one order in each attempt, so that families get the same numbers.
    val coming = files.filter(_.source != me).sortBy(_.source)
      .map(f => f -> f.segments.filter(_.target == me))
    read(own, leaving)(_ => ())
    coming.foreach { case (file, segments) => read(file, segments)(_ => ()) }
    read(own, leaving)(_.foreach((family, key, _) => remove(store, family, key)))
    coming.foreach { case (file, segments) =>
      read(file, segments)(_.foreach((family, key, value) => put(store, family, key, value)))
    }
  }

  private def read(file: HandoffFile, segments: Seq[HandoffSegment])(
      use: HandoffRows => Unit
  ): Unit =
    if (segments.nonEmpty) {
      val reader = new HandoffReader(new Path(file.path), conf)
      try segments.foreach(s => use(reader.read(s.target, s.rows, s.checksum)))
      finally reader.close()
    }

  private def remove(store: RawWriter, family: String, key: Array[Byte]): Unit = {
    if (!store.contains(family, key)) fail(
      s"a row of family $family that moves to another partition is not here"
    )
    store.remove(family, key)
  }

  private def put(
      store: RawWriter,
      family: String,
      key: Array[Byte],
      value: Array[Byte]
  ): Unit = {
    store.createFamily(family)
    if (store.contains(family, key)) fail(
      s"a row of family $family that comes from another partition is here already"
    )
    store.put(family, key, value)
  }

  private def fail(what: String): Nothing = throw new KeyRouteException(
    s"$id: $what. The state is not what the handoff to version ${switch.toVersion} read: the " +
      "batch cannot run. Start the query again; if this comes again, restore the checkpoint."
  )
}
