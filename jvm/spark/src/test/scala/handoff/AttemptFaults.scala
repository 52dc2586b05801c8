package org.apache.spark.sql.keyroute.handoff

import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.{Files, NoSuchFileException, Path}

/** Task attempts that fail where the differential bench says so, by `java_method` in its queries. */
object AttemptFaults {

  /** Called with the first row that an operator emits, when its store is not committed: where the file
    * `fault-before` is in the folder, this attempt takes it away, leaves `done-before`, and fails. */
  def failBefore(folder: String): String = {
    val fault = Path.of(folder, "fault-before")
    if (Files.exists(fault) && taken(fault, fault.resolveSibling("done-before")))
      throw new IllegalStateException("a task attempt that is to fail before it commits")
    "passed"
  }

  private def taken(fault: Path, done: Path): Boolean =
    try {
      Files.move(fault, done, ATOMIC_MOVE)
      true
    } catch { case _: NoSuchFileException => false }
}
