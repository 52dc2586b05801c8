"""The jar of the Scala tests: what integration tests put on an application's class path beside the
product, which has no hooks for them."""

from __future__ import annotations

from pathlib import Path

from keyroute.jar import installed_minor

_JVM = Path(__file__).parents[2] / "jvm"
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
    """Its path, for the installed Spark."""
    minor = (installed_minor() or "").replace(".", "-")
    name = f"spark*/target/scala-2.13/keyroute-spark-{minor}_2.13-*-tests.jar"
    jars = sorted(_JVM.glob(name), key=lambda jar: jar.stat().st_mtime)
    assert jars, f"no {name} in {_JVM}: ./sbt spark/Test/packageBin, or spark42/Test/packageBin"
    return str(jars[-1])
