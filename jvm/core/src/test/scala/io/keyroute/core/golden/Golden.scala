package io.keyroute.core.golden

import java.nio.file.{Files, Path, Paths}

/** Where golden files lie, and whether this run writes them anew. */
object Golden {

  /** The root of the repository: forked tests run in their module's folder. */
  lazy val root: Path =
    Iterator
      .iterate(Paths.get("").toAbsolutePath)(_.getParent)
      .takeWhile(_ != null)
      .find(folder => Files.exists(folder.resolve("proto/keyroute/v1")))
      .getOrElse(throw new IllegalStateException("the tests do not run within the repository"))

  /** Set KEYROUTE_REWRITE_GOLDEN=1 after a wanted change, and read the difference. */
  def rewrite: Boolean = sys.env.contains("KEYROUTE_REWRITE_GOLDEN")
}
