package org.apache.spark.sql.execution.streaming.state.keyroute

import java.lang.reflect.Method

import org.apache.spark.sql.execution.streaming.state._

/** What Spark's providers tell only to their own package. Glue, nothing else. */
object StateInternals {
  // Protected in Scala, public in bytecode.
  private val loadedVersion: Method = classOf[RocksDB].getMethod("loadedVersion")
  private val loadedId: Method = classOf[RocksDB].getMethod("loadedStateStoreCkptId")

  /** Whether a load of this version would find it in place.
    *
    * @param checkpointId
    *   the version's unique id, in checkpoint format 2
    */
  def isLoaded(
      provider: RocksDBStateStoreProvider,
      version: Long,
      checkpointId: Option[String]
  ): Boolean = {
    val db = provider.rocksDB
    loadedVersion.invoke(db) == version &&
    (checkpointId.isEmpty || loadedId.invoke(db) == checkpointId)
  }

  /** The provider that loaded a store of RocksDB's. */
  def creator(store: ReadStateStore): Option[RocksDBStateStoreProvider] = store match {
    case s: RocksDBStateStoreProvider#RocksDBStateStore => Some(s.creatingProvider)
    case _ => None
  }

  /** The rows of a committed version, if they are in memory. They never change. */
  def loadedMap(
      provider: HDFSBackedStateStoreProvider,
      version: Long
  ): Option[HDFSBackedStateStoreMap] =
    Option(provider.getLoadedMaps().get(version))
}
