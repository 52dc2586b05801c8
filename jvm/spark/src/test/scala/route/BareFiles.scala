package org.apache.spark.sql.keyroute.route

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{
  DelegateToFileSystem,
  FileStatus,
  LocalFileSystem,
  Path,
  RawLocalFileSystem
}

import org.apache.spark.sql.classic.SparkSession

/** Local files without permissions and links of their own: Hadoop starts a process to set or to read
  * one, hundreds for each test, which was a good part of these tests' time. */
class BareFiles extends RawLocalFileSystem {
  override def setPermission(path: Path, permission: FsPermission): Unit = ()
  override def getFileLinkStatus(path: Path): FileStatus = getFileStatus(path)
}

class BareFilesWithChecksums extends LocalFileSystem(new BareFiles)

/** For Hadoop's newer interface, by which checkpoints are written. */
class BareFilesContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new BareFiles, conf, "file", false) {
  override def getUriDefaultPort: Int = -1
  override def isValidName(name: String): Boolean = true
}

object BareFiles {
  def in(session: SparkSession.Builder): SparkSession.Builder = session
    .config("spark.hadoop.fs.file.impl", classOf[BareFilesWithChecksums].getName)
    .config("spark.hadoop.fs.AbstractFileSystem.file.impl", classOf[BareFilesContext].getName)
}
