package org.apache.spark.sql.keyroute.gateway

import java.net.{InetAddress, Socket}
import java.util.concurrent.TimeUnit
import java.util.{Collections, List => JList}
import javax.net.ServerSocketFactory

import py4j.commands.Command
import py4j.{
  CallbackClient,
  Gateway => Py4jGateway,
  GatewayConnection,
  GatewayServer,
  GatewayServerListener,
  Py4JServerConnection
}

/** The py4j server through which the controller reads. A token always; the entry point only.
  *
  * @param port
  *   0 takes a free one
  */
final class Gateway(host: String, port: Int, token: String, entryPoint: EntryPoint)
    extends AutoCloseable {
  private val server = new EntryPointServer(InetAddress.getByName(host), port, token, entryPoint)

  /** Listens from here on.
    * @throws py4j.Py4JNetworkException
    *   where the port is taken
    */
  def open(): Unit = server.open()

  /** The port that is listened on. */
  def listeningPort: Int = server.getListeningPort

  override def close(): Unit = server.shutdown()
}

/** py4j's server with connections of our own; its threads do not keep the driver alive. */
private final class EntryPointServer(
    address: InetAddress,
    port: Int,
    token: String,
    entryPoint: EntryPoint
) extends GatewayServer(
      entryPoint,
      port,
      address,
      GatewayServer.DEFAULT_CONNECT_TIMEOUT,
      GatewayServer.DEFAULT_READ_TIMEOUT,
      NoCommands.list,
      NoCallbacks.client(address),
      ServerSocketFactory.getDefault
    ) {

  def open(): Unit = {
    startSocket()
    val accepting = new Thread(this, "keyroute-gateway")
    accepting.setDaemon(true)
    accepting.start()
  }

  override protected def createConnection(
      gateway: Py4jGateway,
      socket: Socket
  ): Py4JServerConnection = {
    val connection =
      new EntryPointConnection(gateway, socket, token, entryPoint, getListeners)
    connection.startConnection()
    connection
  }
}

/** A connection that knows two commands: authenticate, and call the entry point. Everything else of
  * py4j (reflection, constructors, fields, JVM views, memory, streams, shutdown) is unknown to
  * it. */
private final class EntryPointConnection(
    gateway: Py4jGateway,
    socket: Socket,
    token: String,
    entryPoint: EntryPoint,
    listeners: JList[GatewayServerListener]
) extends GatewayConnection(gateway, socket, token, NoCommands.list, listeners) {

  private val call = new EntryPointCall(entryPoint)
  call.init(gateway, this)
  commands.keySet.retainAll(Collections.singleton(authCommand.getCommandName))
  commands.put(call.getCommandName, call)
}

private object NoCommands {
  val list: JList[Class[_ <: Command]] = Collections.emptyList()
}

/** py4j wants a client for calls back into Python. This gateway makes none. */
private object NoCallbacks {
  // A connection time of 0 starts no cleaner thread.
  def client(address: InetAddress): CallbackClient =
    new CallbackClient(0, address, 0L, TimeUnit.SECONDS)
}
