package org.apache.spark.sql.keyroute.gateway

import java.io.{BufferedReader, InputStreamReader}
import java.net.{InetAddress, Socket}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit.SECONDS

import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.publish.PublisherFixture.{eventually, patienceConfig}

class GatewaySuite extends AnyFunSuite with BeforeAndAfterAll {
  private val token = "0123456789abcdef0123456789abcdef"
  private val answers = new EntryPoint {
    override def protocol(): Int = EntryPoint.Protocol
    override def status(): Array[Byte] = Array.tabulate(256)(_.toByte)
    override def statistics(queryId: String): Array[Byte] = queryId match {
      case "unknown" => Array.emptyByteArray
      case "bad" => throw new IllegalStateException("no such luck")
      case id => id.getBytes(UTF_8)
    }
  }
  private val gateway = new Gateway("127.0.0.1", 0, token, answers)

  override def beforeAll(): Unit = gateway.open()
  override def afterAll(): Unit = gateway.close()

  /** What the gateway says to lines, after the answer to the token; ends where it hangs up. */
  private def converse(secret: String, lines: String): List[String] = {
    val socket = new Socket(InetAddress.getLoopbackAddress, gateway.listeningPort)
    try {
      socket.setSoTimeout(10000)
      socket.getOutputStream.write((s"A\n$secret\n" + lines).getBytes(UTF_8))
      socket.shutdownOutput()
      val reader = new BufferedReader(new InputStreamReader(socket.getInputStream, UTF_8))
      Iterator.continually(readLine(reader)).takeWhile(_ != null).toList
    } finally socket.close()
  }

  private def readLine(reader: BufferedReader): String =
    try reader.readLine()
    catch { case _: java.net.SocketException => null }

  test("the entry point answers by name") {
    assert(converse(token, "c\nt\nprotocol\ne\n").take(2) == List("!yv", "!yi1"))
    assert(converse(token, "c\nt\nstatistics\nsabc\ne\n")(1).startsWith("!yj"))
  }

  test("a failure of the entry point is an error, and the connection goes on") {
    val said = converse(token, "c\nt\nstatistics\nsbad\ne\nc\nt\nprotocol\ne\n")
    assert(said(1).startsWith("!xs") && said(1).contains("no such luck"))
    assert(said(2) == "!yi1")
  }

  test("a wrong token is refused, and nothing is answered after it") {
    val said = converse("0123456789abcdef0123456789abcdeX", "c\nt\nprotocol\ne\n")
    assert(said.size <= 1)
    assert(said.forall(_.startsWith("!x")))
  }

  test("a call before the token is refused") {
    val socket = new Socket(InetAddress.getLoopbackAddress, gateway.listeningPort)
    try {
      socket.setSoTimeout(10000)
      socket.getOutputStream.write("c\nt\nprotocol\ne\n".getBytes(UTF_8))
      val reader = new BufferedReader(new InputStreamReader(socket.getInputStream, UTF_8))
      assert(Iterator.continually(readLine(reader)).takeWhile(_ != null).forall(_.startsWith("!x")))
    } finally socket.close()
  }

  private def connected(to: Gateway): Socket = {
    val socket = new Socket(InetAddress.getLoopbackAddress, to.listeningPort)
    socket.setSoTimeout(20000)
    socket
  }

  private def hangsUpOn(socket: Socket): Boolean =
    try socket.getInputStream.read() < 0
    catch { case e: java.net.SocketException => e.getMessage.contains("reset") }

  test("who does not authenticate in time, or sends a line without an end, is hung up on") {
    val impatient = new Gateway("127.0.0.1", 0, token, answers, loginMs = 300)
    impatient.open()
    try {
      val silent = connected(impatient)
      val endless = connected(impatient)
      try {
        endless.getOutputStream.write(("A\n" + "x" * 9000).getBytes(UTF_8))
        assert(hangsUpOn(endless) && hangsUpOn(silent))
      } finally {
        silent.close()
        endless.close()
      }
      val patient = connected(impatient)
      try {
        patient.getOutputStream.write(s"A\n$token\n".getBytes(UTF_8))
        patient.setSoTimeout(1000)
        assert(patient.getInputStream.readNBytes(4).map(_.toChar).mkString == "!yv\n")
        // Authenticated: it may be silent for longer than that.
        intercept[java.net.SocketTimeoutException](patient.getInputStream.read())
        patient.getOutputStream.write("c\nt\nprotocol\ne\n".getBytes(UTF_8))
        assert(patient.getInputStream.readNBytes(5).map(_.toChar).mkString == "!yi1\n")
      } finally patient.close()
    } finally impatient.close()
  }

  test("connections are limited, and a place is free again when one ends") {
    val limited = new Gateway("127.0.0.1", 0, token, answers)
    limited.open()
    try {
      val held = Seq.fill(Gateway.MostConnections)(connected(limited))
      val oneMore = connected(limited)
      try assert(hangsUpOn(oneMore))
      finally (oneMore +: held).foreach(_.close())
      eventually {
        val socket = connected(limited)
        try {
          socket.getOutputStream.write(s"A\n$token\n".getBytes(UTF_8))
          assert(socket.getInputStream.read() == '!')
        } finally socket.close()
      }
    } finally limited.close()
  }

  private val hostile = Seq(
    "reflection: a class's member" -> "r\nu\nRuntime\nrj\ne\n",
    "reflection: a member" -> "r\nm\njava.lang.System\nexit\ne\n",
    "constructor" -> "i\njava.lang.ProcessBuilder\ne\n",
    "static call" -> "c\nz:java.lang.Runtime\ngetRuntime\ne\n",
    "call on the default JVM view" -> "c\nj\ntoString\ne\n",
    "call on the server" -> "c\nGATEWAY_SERVER\nshutdown\ne\n",
    "call on another object" -> "c\no0\ntoString\ne\n",
    "getClass on the entry point" -> "c\nt\ngetClass\ne\n",
    "toString on the entry point" -> "c\nt\ntoString\ne\n",
    "a method with wrong arguments" -> "c\nt\nprotocol\ni1\ne\n",
    "an object as argument" -> "c\nt\nstatistics\nrt\ne\n",
    "a Python proxy as argument" -> "c\nt\nstatistics\nfp0;java.lang.Runnable\ne\n",
    "field" -> "f\ng\nt\nx\ne\n",
    "memory" -> "m\nd\no0\ne\n",
    "memory of the entry point" -> "m\nd\nt\ne\n",
    "JVM view" -> "j\nc\nview\ne\n",
    "JVM view import" -> "j\ni\nrj\njava.lang.Runtime\ne\n",
    "array" -> "a\nc\nint\ni1\ne\n",
    "dir" -> "d\nf\nt\nn\ne\n",
    "exception" -> "p\nrt\ne\n",
    "stream" -> "S\nt\nstatus\ne\n",
    "list" -> "l\na\no0\ne\n",
    "help" -> "h\no\nt\nn\nbtrue\ne\n",
    "cancel" -> "q\n",
    "shut the server down" -> "s\ne\n",
    "more arguments than there are" -> ("c\nt\nprotocol\n" + "sx\n" * 100 + "e\n"),
    "nonsense" -> "xyz\n"
  )

  hostile.foreach { case (name, lines) =>
    test(s"refused: $name") {
      val said = converse(token, lines + "c\nt\nprotocol\ne\n")
      assert(said.headOption.contains("!yv"))
      assert(said.drop(1).forall(l => l.startsWith("!x") || l.startsWith("!z")), said)
      // The server itself goes on.
      assert(converse(token, "c\nt\nprotocol\ne\n")(1) == "!yi1")
    }
  }

  test("a Python client calls, and its other ways in are refused") {
    val root = Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
      .find(dir => Files.exists(dir.resolve(".venv/bin/python"))).get
    val script = Path.of(getClass.getResource("/gateway_client.py").toURI)
    val process = new ProcessBuilder(
      root.resolve(".venv/bin/python").toString,
      script.toString,
      gateway.listeningPort.toString,
      token
    ).redirectErrorStream(true).start()
    val said = new String(process.getInputStream.readAllBytes(), UTF_8)
    assert(process.waitFor(60, SECONDS) && process.exitValue == 0, said)
  }
}
