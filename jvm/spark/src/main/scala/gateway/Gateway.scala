package org.apache.spark.sql.keyroute.gateway

import java.net.{InetAddress, Socket}
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.{Collections, List => JList}
import javax.net.ServerSocketFactory

import scala.util.control.NonFatal

import py4j.commands.Command
import py4j.{
  CallbackClient,
  Gateway => Py4jGateway,
  GatewayConnection,
  GatewayServer,
  GatewayServerListener,
  Py4JNetworkException,
  Py4JServerConnection
}

/** The py4j server through which the controller reads. A token always; the entry point only.
  *
  * @param port
  *   0 takes a free one
  * @param loginMs
  *   time in which a client must have sent its token
  */
final class Gateway(
    host: String,
    port: Int,
    token: String,
    entryPoint: EntryPoint,
    loginMs: Int = Gateway.LoginMs
) extends AutoCloseable {
  private val server =
    new EntryPointServer(InetAddress.getByName(host), port, token, entryPoint, loginMs)

  /** Listens from here on.
    * @throws py4j.Py4JNetworkException
    *   where the port is taken
    */
  def open(): Unit = server.open()

  /** The port that is listened on. */
  def listeningPort: Int = server.getListeningPort

  override def close(): Unit = server.shutdown()
}

object Gateway {
  val LoginMs: Int = 10000
  val MostConnections: Int = 16
}

/** py4j's server with connections of our own; its threads do not keep the driver alive. */
private final class EntryPointServer(
    address: InetAddress,
    port: Int,
    token: String,
    entryPoint: EntryPoint,
    loginMs: Int
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

  private val connected = new AtomicInteger

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
    if (connected.incrementAndGet() > Gateway.MostConnections) {
      leave(socket)
      throw new Py4JNetworkException(s"more than ${Gateway.MostConnections} connections at once")
    }
    try {
      val connection = new EntryPointConnection(
        gateway,
        socket,
        token,
        entryPoint,
        getListeners,
        loginMs,
        () => leave(socket)
      )
      connection.startConnection()
      connection
    } catch {
      case NonFatal(e) =>
        leave(socket)
        throw e
    }
  }

  private def leave(socket: Socket): Unit = {
    connected.decrementAndGet()
    socket.close()
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
    listeners: JList[GatewayServerListener],
    loginMs: Int,
    ended: () => Unit
) extends GatewayConnection(gateway, socket, token, NoCommands.list, listeners) {

  private val call = new EntryPointCall(entryPoint)
  call.init(gateway, this)
  commands.keySet.retainAll(Collections.singleton(authCommand.getCommandName))
  commands.put(call.getCommandName, call)

  /** Whoever says nothing, or no end of a line, is hung up on before anything is read of it. */
  override def run(): Unit =
    try if (new Login(socket, reader).hasComeWithin(loginMs)) super.run() else shutdown(true)
    finally ended()
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
