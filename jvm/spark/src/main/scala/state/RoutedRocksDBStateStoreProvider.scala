package org.apache.spark.sql.keyroute.state

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.execution.streaming.state.keyroute.StateInternals
import org.apache.spark.sql.types.StructType

/** Spark's RocksDB state store, with [[Migrating]]. */
class RoutedRocksDBStateStoreProvider extends RocksDBStateStoreProvider with Migrating {
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

  override def getReadStore(version: Long, uniqueId: Option[String]): StateStore =
    // The store that a switch loads for writing is one of RocksDB's, too.
    readMigrated(version, uniqueId)(super.getReadStore(version, uniqueId)) match {
      case store: StateStore => store
      case other => throw new IllegalStateException(s"$other cannot be written to")
    }

  override def upgradeReadStoreToWriteStore(
      readStore: ReadStateStore,
      version: Long,
      uniqueId: Option[String],
      forceSnapshotOnCommit: Boolean
  ): StateStore =
    StateInternals.creator(readStore) match {
      // Loaded, and migrated, by an instance that has been replaced since.
      case Some(creator) if creator ne this =>
        creator.upgradeReadStoreToWriteStore(readStore, version, uniqueId, forceSnapshotOnCommit)
      case _ =>
        upgraded(readStore, version)(
          super.upgradeReadStoreToWriteStore(readStore, version, uniqueId, forceSnapshotOnCommit)
        )
    }

  override def readLoaded[T](version: Long, checkpointId: Option[String])(
      use: RawState => T
  ): Option[T] =
    Option.when(StateInternals.isLoaded(this, version, checkpointId)) {
      val store = super.getReadStore(version, checkpointId)
      try use(new RocksDbState(rocksDB))
      finally store.release()
    }

  override protected def rawOf(store: StateStore): RawState with RawWriter =
    new RocksDbState(rocksDB)
}
