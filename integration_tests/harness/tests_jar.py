"""The jar of the Scala tests: what integration tests put on an application's class path beside the
product, which has no hooks for them."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "jvm" / "spark" / "target" / "scala-2.13"
_PACKAGE = "org.apache.spark.sql.keyroute.handoff"

MIGRATION_OFF = f"{_PACKAGE}.MigrationOffExtension"
MUTANT_PLUGIN = f"{_PACKAGE}.MutantPlugin"
MUTANT = "spark.test.mutant"
SLOW_FILES = {"spark.sql.streaming.checkpointFileManagerClass": f"{_PACKAGE}.SlowFiles"}
SLOW_FILES_MS = "spark.hadoop.keyroute.test.handoffFileMs"
SLOW_EXECUTOR = "spark.hadoop.keyroute.test.slowExecutor"


def class_path() -> dict[str, str]:
    """Spark's settings that put it on the JVMs' own class path."""
    jar = find_tests_jar()
    return {"spark.driver.extraClassPath": jar, "spark.executor.extraClassPath": jar}


def find_tests_jar() -> str:
    """Its path."""
    jars = sorted(_FOLDER.glob("keyroute-spark-*-tests.jar"), key=lambda jar: jar.stat().st_mtime)
    assert jars, f"no jar of the tests in {_FOLDER}: ./sbt spark/Test/packageBin"
    return str(jars[-1])
