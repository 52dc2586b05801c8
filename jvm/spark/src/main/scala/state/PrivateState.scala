package org.apache.spark.sql.keyroute.state

import java.util.UUID

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.execution.streaming.runtime.StreamExecution
import org.apache.spark.sql.execution.streaming.state.{
  HDFSBackedStateStoreProvider,
  NoPrefixKeyStateEncoderSpec,
  RocksDBStateStoreProvider,
  StateStore,
  StateStoreConf,
  StateStoreId,
  StateStoreProvider
}

/** Reads a version of a state store from the checkpoint, with a provider of Spark's own class that
  * nobody else knows: the `StateStore` object would move the store's recorded location here and
  * make its owner unload it. */
object PrivateState {

  /** Opens, uses and closes.
    *
    * @param checkpointId
    *   of that very partition's version, in checkpoint format 2
    */
  def read[T](
      keys: StoreKeys,
      id: StateStoreId,
      version: Long,
      checkpointId: Option[String],
      storeConf: StateStoreConf,
      hadoopConf: Configuration
  )(use: RawState => T): T = {
    val conf = new Configuration(hadoopConf)
    conf.set(StreamExecution.RUN_ID_KEY, UUID.randomUUID().toString)
    if (keys.rocksDb) {
      val provider = new RocksDBStateStoreProvider
      opened(provider, keys, id, storeConf, conf) {
        val store = provider.getReadStore(version, checkpointId)
        try use(new RocksDbState(provider.rocksDB))
        finally store.release()
      }
    } else {
      val provider = new HDFSBackedStateStoreProvider
      opened(provider, keys, id, storeConf, conf) {
        val store = provider.getReadStore(version, checkpointId)
        try use(new HdfsBackedState(() => store.iterator(StateStore.DEFAULT_COL_FAMILY_NAME)))
        finally store.release()
      }
    }
  }

  private def opened[T](
      provider: StateStoreProvider,
      keys: StoreKeys,
      id: StateStoreId,
      storeConf: StateStoreConf,
      conf: Configuration
  )(use: => T): T = {
    val first = keys.families.head
    // Schemas are of the default family; raw reading of the others needs none.
    provider.init(
      id,
      first.keySchema,
      first.valueSchema,
      NoPrefixKeyStateEncoderSpec(first.keySchema),
      keys.withFamilies,
      storeConf,
      conf,
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None
    )
    try use
    finally provider.close()
  }
}
