"""Local files for which Hadoop starts no process: `chmod` and `readlink`, some for each file."""

from __future__ import annotations

from harness.tests_jar import class_path

_PACKAGE = "org.apache.spark.sql.keyroute.route"


def bare_files() -> dict[str, str]:
    """Spark's settings."""
    return {
        # Hadoop asks for the classes before Spark adds its jars.
        **class_path(),
        "spark.hadoop.fs.file.impl": f"{_PACKAGE}.BareFilesWithChecksums",
        "spark.hadoop.fs.AbstractFileSystem.file.impl": f"{_PACKAGE}.BareFilesContext",
    }
