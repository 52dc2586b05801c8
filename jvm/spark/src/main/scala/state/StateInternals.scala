package org.apache.spark.sql.execution.streaming.state.keyroute

import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreMap, HDFSBackedStateStoreProvider, RocksDBStateStoreProvider}

/** What Spark's providers tell only to their own package. Glue, nothing else. */
object StateInternals {

  /** Whether a load of this version would find it in place.
    *
    * @param checkpointId
    *   the version's unique id, in checkpoint format 2
    */
  def isLoaded(
      provider: RocksDBStateStoreProvider,
      version: Long,
      checkpointId: Option[String]): Boolean = {
    val db = provider.rocksDB
    db.loadedVersion == version &&
    checkpointId.forall(db.loadedStateStoreCkptId.contains)
  }

  /** The rows of a committed version, if they are in memory. They never change. */
  def loadedMap(
      provider: HDFSBackedStateStoreProvider,
      version: Long): Option[HDFSBackedStateStoreMap] =
    Option(provider.getLoadedMaps().get(version))
}
