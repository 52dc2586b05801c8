package org.apache.spark.sql.keyroute.publish

import java.io.File
import java.net.InetSocketAddress
import java.nio.file.Files

import org.apache.zookeeper.server.{NIOServerCnxnFactory, ZooKeeperServer}

/** A real ZooKeeper server in this process, on a free port of the loopback, that can be stopped and
  * started again with or without what it knew. */
final class ZooKeeperInProcess extends AutoCloseable {
  private var folder: File = newFolder()
  private var factory: NIOServerCnxnFactory = _
  private var server: ZooKeeperServer = _
  private var port = 0

  start()

  def connect: String = s"127.0.0.1:$port"

  def start(): Unit = {
    server = new ZooKeeperServer(folder, folder, 500)
    server.setMinSessionTimeout(1000)
    factory = new NIOServerCnxnFactory()
    factory.configure(new InetSocketAddress("127.0.0.1", port), 100)
    factory.startup(server)
    port = factory.getLocalPort
  }

  def stop(): Unit = {
    factory.shutdown()
    server.shutdown()
  }

  /** Forgets everything, sessions too. */
  def empty(): Unit = {
    stop()
    folder = newFolder()
    start()
  }

  /** Ends a session as if its client had not been heard of for long. */
  def expire(session: Long): Unit = server.closeSession(session)

  override def close(): Unit = stop()

  private def newFolder(): File = Files.createTempDirectory("keyroute-zookeeper").toFile
}
