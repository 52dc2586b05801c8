package org.apache.spark.sql.keyroute.state

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.execution.streaming.state.keyroute.StateInternals
import org.apache.spark.sql.types.StructType

/** Spark's HDFS-backed state store, with [[Migrating]]. */
class RoutedHDFSBackedStateStoreProvider extends HDFSBackedStateStoreProvider with Migrating {
  private var keys: StructType = _
  private var values: StructType = _

  override def init(
      id: StateStoreId,
      keySchema: StructType,
      valueSchema: StructType,
      keyStateEncoderSpec: KeyStateEncoderSpec,
      useColumnFamilies: Boolean,
      storeConf: StateStoreConf,
      hadoopConf: Configuration,
      useMultipleValuesPerKey: Boolean,
      stateSchemaProvider: Option[StateSchemaProvider]
  ): Unit = {
    super.init(
      id,
      keySchema,
      valueSchema,
      keyStateEncoderSpec,
      useColumnFamilies,
      storeConf,
      hadoopConf,
      useMultipleValuesPerKey,
      stateSchemaProvider
    )
    keys = keySchema
    values = valueSchema
    register(id, hadoopConf)
  }

  override def close(): Unit = {
    unregister()
    super.close()
  }

  override def getStore(
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean
  ): StateStore =
    migrated(version)(super.getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty))

  override def getReadStore(version: Long, uniqueId: Option[String]): ReadStateStore =
    readMigrated(version, uniqueId)(super.getReadStore(version, uniqueId))

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean
  ): StateStore =
    // Spark's own upgrade is another load by getStore, which would migrate by itself.
    upgraded(readStore, version)(
      super.getStore(version, uniqueId, forceSnapshotOnCommit, loadEmpty = false)
    )

  /** Without the lock and the copy that a read store costs. */
  override def readLoaded[T](version: Long, checkpointId: Option[String])(
      use: RawState => T
  ): Option[T] =
    StateInternals.loadedMap(this, version).map(m => use(new HdfsBackedState(() => m.iterator())))

  override protected def rawOf(store: StateStore): RawState with RawWriter =
    new HdfsBackedWriter(store, keys, values)
}
