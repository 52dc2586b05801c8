package org.apache.spark.sql.keyroute.gateway

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.attribute.{FileAttribute, PosixFilePermission, PosixFilePermissions}
import java.nio.file.{FileAlreadyExistsException, FileSystemException, Files, Path}
import java.security.SecureRandom
import java.util.{HexFormat, Set => JSet}

import org.apache.spark.sql.keyroute.plugin.SecretFile
import org.apache.spark.sql.keyroute.route.KeyRouteException

/** The gateway's secret.
  *
  * @param madeFor
  *   the file to remove at the end: one made for this application only
  */
final case class GatewayToken(value: String, madeFor: Option[Path]) {
  def discard(): Unit = madeFor.foreach(Files.deleteIfExists)
  // The secret must not get into a log.
  override def toString: String = "GatewayToken(…)"
}

object GatewayToken {
  val Environment: String = "KEYROUTE_GATEWAY_TOKEN"
  private val RandomBytes = 32

  /** From the file that the settings name, else the environment, else made for the application.
    * @param home
    *   folder under which `.keyroute/<appId>.token` is written
    * @throws KeyRouteException
    *   where the user's own file is readable by others, or does not hold a token
    */
  def find(file: String, environment: Option[String], home: Path, appId: String): GatewayToken =
    if (file.nonEmpty) GatewayToken(readOrMake(Path.of(file)), None)
    else environment.filter(_.nonEmpty) match {
      case Some(token) => GatewayToken(checked(token, Environment), None)
      case None =>
        val path = home.resolve(".keyroute").resolve(s"$appId.token")
        // An application's id is its own: what lies there is left over from a crash.
        Files.deleteIfExists(path)
        GatewayToken(make(path), Some(path))
    }

  private def readOrMake(path: Path): String =
    if (Files.exists(path)) read(path)
    else
      try make(path)
      catch { case _: FileAlreadyExistsException => read(path) }

  private def read(path: Path): String = {
    SecretFile.exposed(path).foreach { mode =>
      throw new KeyRouteException(
        s"the gateway's token file $path can be used by others ($mode): run chmod 600 on it"
      )
    }
    checked(Files.readString(path).trim, s"the file $path")
  }

  private def checked(token: String, where: String): String = {
    val fits = token.length >= 16 && token.forall(c => c > ' ' && c < 127 && c != '\\')
    if (fits) token
    else {
      throw new KeyRouteException(
        s"$where does not hold a gateway token: at least 16 printable ASCII characters, without " +
          "spaces and backslashes"
      )
    }
  }

  private def make(path: Path): String = {
    val bytes = new Array[Byte](RandomBytes)
    new SecureRandom().nextBytes(bytes)
    val token = HexFormat.of().formatHex(bytes)
    val folder = path.toAbsolutePath.getParent
    if (!Files.exists(folder)) Files.createDirectories(folder, mode("rwx------"))
    // Nobody reads a file that is only half there: it is written under another name, and linked.
    val written = Files.createTempFile(folder, ".token", "", mode("rw-------"))
    try {
      Files.write(written, token.getBytes(UTF_8))
      publish(written, path)
    } finally Files.deleteIfExists(written)
    token
  }

  // A rename would replace the file of a driver that was faster; only file systems without links
  // are left with it.
  private def publish(written: Path, path: Path): Unit =
    try {
      Files.createLink(path, written)
      ()
    } catch {
      case e: FileAlreadyExistsException => throw e
      case _: UnsupportedOperationException | _: FileSystemException =>
        Files.move(written, path)
        ()
    }

  private def mode(permissions: String): FileAttribute[JSet[PosixFilePermission]] =
    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
}
