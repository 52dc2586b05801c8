package org.apache.spark.sql.keyroute.publish

import java.util.UUID

import org.apache.spark.sql.keyroute.route.KeyRouteException

/** Where things lie in ZooKeeper; `docs/protocol.md` tells what they are.
  *
  * @param root
  *   absolute path without a slash at its end
  */
final case class ZooKeeperTree(root: String) {
  def app(appId: String): String = s"$root/apps/$appId"

  def query(id: UUID): String = s"$root/queries/$id"
  def meta(id: UUID): String = s"${query(id)}/meta"
  def live(id: UUID): String = s"${query(id)}/live"
  def wanted(id: UUID): String = s"${query(id)}/wanted"
  def inForce(id: UUID): String = s"${query(id)}/in_force"
  def reconfiguration(id: UUID): String = s"${query(id)}/reconfiguration"
  def tables(id: UUID): String = s"${query(id)}/tables"
  def tableMeta(id: UUID, version: Long): String = s"${tables(id)}/$version/meta"
  def chunk(id: UUID, version: Long, index: Int): String =
    f"${tables(id)}/$version/chunk-$index%04d"
}

object ZooKeeperTree {

  /** @throws KeyRouteException
    *   for a root that ZooKeeper would not take
    */
  def at(root: String): ZooKeeperTree = {
    val fits = root.matches("(/[A-Za-z0-9._-]+)+/?")
    if (!fits) {
      throw new KeyRouteException(
        s"spark.keyroute.zookeeper.root is '$root', but must be a path like /keyroute"
      )
    }
    ZooKeeperTree(root.stripSuffix("/"))
  }
}
