package org.apache.spark.sql.keyroute.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.streaming.state.StateStoreId
import org.apache.spark.sql.keyroute.handoff.{HandoffFile, HandoffReader, HandoffRows, Switch}
import org.apache.spark.sql.keyroute.route.KeyRouteException

/** Applies a switch to one store of one partition. */
final class MovedRowsApply(id: StateStoreId, switch: Switch, conf: Configuration) {
  private val me = id.partitionId
  private val files =
    switch.files.filter(f => f.operator == id.operatorId && f.store == id.storeName)

  /** Reads and checks all there is to read, removes what leaves, puts what comes.
    * @throws KeyRouteException
    *   if a row that leaves is not here, or one that comes is here already
    * @throws java.io.IOException
    *   if a file is lost or damaged: the query makes it anew when it starts again */
  def apply(store: RawWriter): Unit = {
    val own = files.find(_.source == me).getOrElse(fail(
      s"the switch to version ${switch.toVersion} does not say what leaves it"
    ))
    val leaving = read(own, own.segments.map(_.target))
    val coming = files.filter(_.source != me).sortBy(_.source).flatMap(f => read(f, Seq(me)))
    leaving.foreach(_.foreach((family, key, _) => remove(store, family, key)))
    // In one order in each attempt, so that families get the same numbers.
    coming.foreach(_.foreach((family, key, value) => put(store, family, key, value)))
  }

  private def read(file: HandoffFile, targets: Seq[Int]): Seq[HandoffRows] = {
    val segments = file.segments.filter(s => targets.contains(s.target))
    if (segments.isEmpty) Nil
    else {
      val reader = new HandoffReader(new Path(file.path), conf)
      try segments.map(s => reader.read(s.target, s.rows, s.checksum))
      finally reader.close()
    }
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
