package org.apache.spark.sql.keyroute.state

import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.execution.streaming.state.StateStoreProviderId

/** The providers of this executor that live: filled by `init`, emptied by `close`. The handoff finds
  * the store of a partition here, without the `StateStore` object, which would load it. */
object LoadedStores {
  private val providers = new ConcurrentHashMap[StateStoreProviderId, Migrating]()

  def add(id: StateStoreProviderId, provider: Migrating): Unit = providers.put(id, provider): Unit

  /** Only where it is still this instance: old providers close late. */
  def remove(id: StateStoreProviderId, provider: Migrating): Unit =
    providers.remove(id, provider): Unit

  def find(id: StateStoreProviderId): Option[Migrating] = Option(providers.get(id))
}
