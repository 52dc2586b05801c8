"""Archives of Spark's classes, which a JVM maps and need not load and verify: an application starts
in half the time. `apps/archive.py` writes them.

Java uses an archive only where the class path begins as that of the JVM that wrote it, and without
one it starts as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from keyroute.jar import installed_minor

_FOLDER = Path(__file__).parents[2] / "target" / "archives"


def archive(conf: Mapping[str, str]) -> Path:
    """The archive for an application with these settings of Spark; it may not be there."""
    kind = "tests" if "spark.driver.extraClassPath" in conf else "plain"
    return _FOLDER / f"spark-{installed_minor()}-{kind}.jsa"
