package org.apache.spark.sql.keyroute.route

import org.apache.spark.sql.internal.SQLConf

/** The state store providers that can hand state off, by class name as Spark's setting has it. */
object StateProviders {
  private val Package = "org.apache.spark.sql.keyroute.state"

  val RocksDB: String = s"$Package.RoutedRocksDBStateStoreProvider"
  val HDFSBacked: String = s"$Package.RoutedHDFSBackedStateStoreProvider"

  def isOurs(conf: SQLConf): Boolean =
    isRocksDb(conf) || conf.stateStoreProviderClass == HDFSBacked

  def isRocksDb(conf: SQLConf): Boolean = conf.stateStoreProviderClass == RocksDB

  /** Why the state of a query under these settings cannot be handed off. The provider is the
    * effective one: a checkpoint pins the class that made it. */
  def problem(conf: SQLConf): Option[String] =
    if (!isOurs(conf))
      Some(s"its state store provider is ${conf.stateStoreProviderClass}; stop it and run " +
        "`keyroute adopt` on its checkpoint to have it routed")
    else if (conf.stateStoreUnloadOnCommit)
      Some(s"${SQLConf.STATE_STORE_UNLOAD_ON_COMMIT.key} is true")
    else if (conf.stateStoreRowChecksumEnabled)
      Some(s"${SQLConf.STATE_STORE_ROW_CHECKSUM_ENABLED.key} is true")
    else if (isRocksDb(conf) && conf.stateStoreEncodingFormat.toLowerCase != "unsaferow")
      Some(s"the state is encoded as ${conf.stateStoreEncodingFormat}")
    else None
}
