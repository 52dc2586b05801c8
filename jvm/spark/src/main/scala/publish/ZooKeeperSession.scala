package org.apache.spark.sql.keyroute.publish

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.{List => JList}

import org.apache.curator.framework.api.ACLProvider
import org.apache.curator.framework.state.{ConnectionState, ConnectionStateListener}
import org.apache.curator.framework.{CuratorFramework, CuratorFrameworkFactory}
import org.apache.curator.retry.RetryNTimes
import org.apache.zookeeper.data.{ACL, Stat}
import org.apache.zookeeper.{CreateMode, KeeperException, WatchedEvent, Watcher, ZooDefs}

import org.apache.spark.sql.keyroute.plugin.SecretFile
import org.apache.spark.sql.keyroute.route.KeyRouteException

/** A znode as it was read. */
final case class ZNode(data: Array[Byte], version: Int, ephemeralOwner: Long)

/** ZooKeeper by Curator: what the publisher needs of it. Each call may wait for the network, but
  * never for ever: it throws where ZooKeeper does not answer, and is made again later.
  *
  * @param authFile
  *   file of one line `user:password`; empty: nodes are open to everyone
  * @param changed
  *   called, on a thread of Curator's, when a node that was read has changed and when the
  * connection   came or went
  */
final class ZooKeeperSession(connect: String, authFile: String, changed: () => Unit)
    extends AutoCloseable {
  // One instance: ZooKeeper keeps a watcher once a node, however often it is set.
  private val watcher: Watcher = (_: WatchedEvent) => changed()
  private val client: CuratorFramework = build()

  /** Connects in the background, now and after every loss. */
  def open(): Unit = {
    val listener: ConnectionStateListener = (_: CuratorFramework, _: ConnectionState) => changed()
    client.getConnectionStateListenable.addListener(listener)
    client.start()
  }

  def connected: Boolean = client.getZookeeperClient.isConnected

  /** Id of the session, which owns our ephemeral nodes. */
  def id: Long = client.getZookeeperClient.getZooKeeper.getSessionId

  /** Reads a node and watches it from then on, whether it is there or not. */
  def read(path: String): Option[ZNode] =
    if (client.checkExists().usingWatcher(watcher).forPath(path) == null) None
    else {
      val stat = new Stat
      try {
        val data = client.getData.storingStatIn(stat).forPath(path)
        Some(ZNode(
          Option(data).getOrElse(Array.emptyByteArray),
          stat.getVersion,
          stat.getEphemeralOwner
        ))
      } catch { case _: KeeperException.NoNodeException => None }
    }

  /** Makes a node; false where there is one already. */
  def create(path: String, data: Array[Byte], mode: CreateMode = CreateMode.PERSISTENT): Boolean =
    try {
      client.create().creatingParentsIfNeeded().withMode(mode).forPath(path, data)
      true
    } catch { case _: KeeperException.NodeExistsException => false }

  /** Writes a node that still has the version that was read; false where it has not. */
  def set(path: String, data: Array[Byte], version: Int): Boolean =
    try {
      client.setData().withVersion(version).forPath(path, data)
      true
    } catch {
      case _: KeeperException.BadVersionException | _: KeeperException.NoNodeException => false
    }

  def delete(path: String, version: Int): Unit =
    try {
      client.delete().withVersion(version).forPath(path)
      ()
    } catch {
      case _: KeeperException.BadVersionException | _: KeeperException.NoNodeException => ()
    }

  override def close(): Unit = client.close()

  private def build(): CuratorFramework = {
    val builder = CuratorFrameworkFactory.builder().connectString(connect)
      .sessionTimeoutMs(ZooKeeperSession.SessionMs)
      .connectionTimeoutMs(ZooKeeperSession.ConnectionMs)
      .retryPolicy(new RetryNTimes(1, ZooKeeperSession.RetryMs))
      .threadFactory { task =>
        val thread = new Thread(task, "keyroute-curator")
        thread.setDaemon(true)
        thread
      }
      // The connect string is what the user said; a server's idea of the ensemble may be
      // unreachable.
      .ensembleTracker(false)
    if (authFile.nonEmpty) {
      builder.authorization("digest", ZooKeeperSession.secret(authFile)).aclProvider(CreatorOnly)
    }
    builder.build()
  }
}

object ZooKeeperSession {
  private val SessionMs = 10000
  private val ConnectionMs = 5000
  private val RetryMs = 100

  /** @throws KeyRouteException
    *   where the file cannot be read, can be read by others, or holds something else
    */
  private def secret(file: String): Array[Byte] = {
    val path = Path.of(file)
    def refuse(why: String): Nothing = throw new KeyRouteException(
      s"spark.keyroute.zookeeper.authFile, $file, $why: it must hold one line user:password, and " +
        "be readable by its owner only (chmod 600)"
    )
    if (!Files.isReadable(path)) refuse("cannot be read")
    SecretFile.exposed(path).foreach(mode => refuse(s"can be used by others ($mode)"))
    val line = Files.readString(path).trim
    if (!line.matches("[^:\\s]+:\\S+")) refuse("does not hold user:password")
    line.getBytes(UTF_8)
  }
}

/** Every node is its creator's alone. */
private object CreatorOnly extends ACLProvider {
  override def getDefaultAcl: JList[ACL] = ZooDefs.Ids.CREATOR_ALL_ACL
  override def getAclForPath(path: String): JList[ACL] = ZooDefs.Ids.CREATOR_ALL_ACL
}
