"""Local files for which Hadoop starts no process: `chmod` and `readlink`, some for each file."""

from __future__ import annotations

from harness.tests_jar import find_tests_jar

_PACKAGE = "org.apache.spark.sql.keyroute.route"


def bare_files() -> dict[str, str]:
    """Spark's settings."""
    jar = find_tests_jar()
    return {
        # On the JVMs' own class path: Hadoop asks for the classes before Spark adds its jars.
        "spark.driver.extraClassPath": jar,
        "spark.executor.extraClassPath": jar,
        "spark.hadoop.fs.file.impl": f"{_PACKAGE}.BareFilesWithChecksums",
        "spark.hadoop.fs.AbstractFileSystem.file.impl": f"{_PACKAGE}.BareFilesContext",
    }
