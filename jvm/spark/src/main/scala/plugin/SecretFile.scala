package org.apache.spark.sql.keyroute.plugin

import java.nio.file.attribute.PosixFilePermissions
import java.nio.file.{Files, Path}

import com.sun.security.auth.module.UnixSystem

import org.apache.spark.internal.Logging

/** Files that hold a secret: readable by nobody but their owner. A file of somebody else's (what
  * Kubernetes mounts belongs to root, and is open to the group or to all) is not ours to close: that
  * is warned of. */
object SecretFile extends Logging {

  /** The mode of a file that must be closed before it is used; None where it may be used.
    * @param user
    *   numeric id of the user that this process runs as
    */
  def exposed(path: Path, user: => Long = currentUser): Option[String] = {
    val mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(path))
    if (mode.endsWith("------")) None
    else if (Files.getAttribute(path, "unix:uid").asInstanceOf[Int].toLong == user) Some(mode)
    else {
      logWarning(s"the secret in $path can be read by others ($mode). It belongs to another user " +
        "and is used as it is; where it is mounted, let the mount close it (as Kubernetes' " +
        "defaultMode 0400 with a fitting fsGroup).")
      None
    }
  }

  private def currentUser: Long = new UnixSystem().getUid
}
