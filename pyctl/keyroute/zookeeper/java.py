"""Finds the Java and the jars that the one-node ZooKeeper server runs on."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from keyroute.zookeeper.errors import ServerError

MINIMUM_JAVA = 17
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


def find_java(environment: Mapping[str, str] = os.environ) -> str:
    """Path of a `java` of at least version 17: JAVA_HOME's first, then PATH's.

    Raises ServerError where there is none or it is too old.
    """
    home = environment.get("JAVA_HOME")
    candidate = f"{home}/bin/java" if home else "java"
    java = shutil.which(candidate, path=environment.get("PATH"))
    if java is None:
        where = f"under JAVA_HOME={home}" if home else "on the PATH"
        raise ServerError(
            f"No Java found {where}: install Java {MINIMUM_JAVA} or newer, or set JAVA_HOME to it."
        )
    version = java_major_version(java)
    if version < MINIMUM_JAVA:
        raise ServerError(
            f"{java} is Java {version}: install Java {MINIMUM_JAVA} or newer and set JAVA_HOME."
        )
    return java


def java_major_version(java: str) -> int:
    """Major version that `java -version` reports. Raises ServerError where it reports none."""
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(f"{java} -version does not run: {error}.") from error
    found = _VERSION.search(answer.stderr + answer.stdout)
    if found is None:
        raise ServerError(f"{java} -version does not tell a version: is it a Java runtime?")
    return int(found.group(1))


def find_spark_jars(environment: Mapping[str, str] = os.environ) -> Path:
    """Folder of Spark's jars, which hold ZooKeeper: SPARK_HOME's, else the installed PySpark's.

    Raises ServerError where neither holds ZooKeeper.
    """
    home = environment.get("SPARK_HOME")
    if home:
        return _holding_zookeeper(Path(home) / "jars", f"SPARK_HOME={home}")
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ServerError(
            "PySpark is not installed, and its jars hold ZooKeeper: "
            "pip install 'keyroute[spark]', or set SPARK_HOME to a Spark distribution."
        )
    return _holding_zookeeper(Path(found.origin).parent / "jars", "the installed PySpark")


def _holding_zookeeper(jars: Path, origin: str) -> Path:
    if not any(jars.glob("zookeeper-[0-9]*.jar")):
        raise ServerError(f"No zookeeper jar in {jars} (from {origin}): is Spark complete there?")
    return jars
