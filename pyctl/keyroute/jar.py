"""Where the plugin's jar lies: inside the installed package, or built in a source checkout.

Spark's internals differ between its minor versions, so each has a jar of its own.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path

_JAR = re.compile(r"keyroute-spark-(\d+)\.(\d+)_2\.13-.+\.jar")
_CORE = re.compile(r"spark-core_2\.\d+-(\d+\.\d+)\..+\.jar")


class JarMissing(Exception):
    """No jar: the text says how to get it."""


def installed_minor(environment: Mapping[str, str] = os.environ) -> str | None:
    """Minor version, as "4.3", of the Spark that a session would start: SPARK_HOME's, else the
    installed PySpark's. None where neither has one."""
    home = environment.get("SPARK_HOME")
    if not home:
        found = importlib.util.find_spec("pyspark")
        if found is None or found.origin is None:
            return None
        home = str(Path(found.origin).parent)
    names = (_CORE.fullmatch(jar.name) for jar in (Path(home) / "jars").glob("spark-core_*.jar"))
    return next((name[1] for name in names if name), None)


def find_jar(package: Path | None = None, minor: str | None = None) -> Path:
    """Absolute path of the jar for a minor version of Spark, as "4.3".

    Without `minor` it is the installed Spark's, and the newest that there is a jar for where no
    Spark is installed. Raises JarMissing.
    """
    package = (package or Path(__file__).parent).resolve()
    checkout = package.parents[1]
    folders = [package / "jars"]
    if (checkout / "build.sbt").exists():
        # What was built last is what a checkout means.
        folders.insert(0, checkout / "target")
    wanted = minor or installed_minor()
    others: set[str] = set()
    for folder in folders:
        jars = _by_minor(folder)
        minors = [wanted] if wanted else sorted(jars, key=_number)[-1:]
        for found in minors:
            if found in jars:
                return jars[found]
        others |= set(jars)
    raise JarMissing(_missing(wanted, folders, others))


def _by_minor(folder: Path) -> dict[str, Path]:
    """The newest jar of each minor version."""
    jars = sorted(folder.glob("*.jar"), key=lambda jar: jar.stat().st_mtime)
    names = ((_JAR.fullmatch(jar.name), jar) for jar in jars)
    return {f"{name[1]}.{name[2]}": jar for name, jar in names if name}


def _number(minor: str) -> list[int]:
    return [int(part) for part in minor.split(".")]


def _missing(wanted: str | None, folders: list[Path], others: set[str]) -> str:
    where = " or ".join(str(folder) for folder in folders)
    if wanted and others:
        there = ", ".join(sorted(others, key=_number))
        return (
            f"There is no KeyRoute jar for Spark {wanted} in {where}, only for {there}: install "
            "one of these versions of PySpark, or in a source checkout run `make jars`."
        )
    return (
        f"There is no KeyRoute jar in {where}: in a source checkout run `make jar`; otherwise "
        "install the keyroute wheel, which holds it."
    )
