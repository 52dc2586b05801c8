package org.apache.spark.sql.keyroute.gateway

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}
import java.util.Collections
import java.util.concurrent.{Callable, Executors}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.keyroute.plugin.SecretFile
import org.apache.spark.sql.keyroute.route.KeyRouteException

class GatewayTokenSuite extends AnyFunSuite {
  private val secret = "0123456789abcdef"

  private def home(): Path = Files.createTempDirectory("keyroute")

  private def modeOf(path: Path): String =
    PosixFilePermissions.toString(Files.getPosixFilePermissions(path))

  test("a token is made for the application, readable by its owner, and removed at the end") {
    val at = home()
    val token = GatewayToken.find("", None, at, "app-1")
    val path = at.resolve(".keyroute/app-1.token")
    assert(token.madeFor.contains(path))
    assert(Files.readString(path) == token.value)
    assert(modeOf(path) == "rw-------")
    assert(modeOf(path.getParent) == "rwx------")
    assert(GatewayToken.find("", None, at, "app-1").value != token.value)
    token.discard()
    assert(!Files.exists(path))
  }

  test("the environment goes before a made token, a file before both") {
    val at = home()
    assert(GatewayToken.find("", Some(secret), at, "a") == GatewayToken(secret, None))
    val file = at.resolve("sub/token")
    val made = GatewayToken.find(file.toString, Some(secret), at, "a")
    assert(made.value != secret && made.madeFor.isEmpty)
    assert(modeOf(file) == "rw-------")
    assert(GatewayToken.find(file.toString, None, at, "a").value == made.value)
  }

  test("drivers that make one file at once have one token, and leave nothing else behind") {
    val file = home().resolve("token")
    val drivers = Executors.newFixedThreadPool(8)
    try {
      val tokens = drivers.invokeAll(Collections.nCopies[Callable[String]](
        32,
        () => GatewayToken.find(file.toString, None, file.getParent, "a").value
      )).asScala.map(_.get).toSet
      assert(tokens == Set(Files.readString(file)))
      assert(modeOf(file) == "rw-------")
      assert(file.getParent.toFile.list.toSeq == Seq("token"))
    } finally drivers.shutdownNow()
  }

  test("an open file is used where it belongs to somebody else, as mounted secrets do") {
    val file = Files.createTempFile("keyroute", "token")
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"))
    val owner = Files.getAttribute(file, "unix:uid").asInstanceOf[Int].toLong
    assert(SecretFile.exposed(file).contains("rw-r--r--"))
    assert(SecretFile.exposed(file, owner + 1).isEmpty)
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
    assert(SecretFile.exposed(file).isEmpty)
  }

  test("a file that others can read is refused") {
    val file = Files.createTempFile("keyroute", "token")
    Files.writeString(file, secret)
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"))
    val e = intercept[KeyRouteException](GatewayToken.find(file.toString, None, home(), "a"))
    assert(e.getMessage.contains("chmod 600"))
  }

  test("a token that py4j's lines cannot carry, or that is short, is refused") {
    Seq("short", secret + " x", secret + "\\n", "").foreach { bad =>
      val file = Files.createTempFile("keyroute", "token")
      Files.writeString(file, bad)
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
      intercept[KeyRouteException](GatewayToken.find(file.toString, None, home(), "a"))
    }
  }

  test("a token does not print itself") {
    assert(!GatewayToken(secret, None).toString.contains(secret))
  }
}
