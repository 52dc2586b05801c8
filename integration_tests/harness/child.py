"""The environment of a Python process that a test starts."""

from __future__ import annotations

import os
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_PACKAGE = _TESTS.parent / "pyctl"


def environment(with_package: bool = True) -> dict[str, str]:
    """This process's own, with the tests on the path. What is on it already stays: a PySpark other
    than the installed one."""
    inherited = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    others = [p for p in inherited if Path(p) not in (_TESTS, _PACKAGE)]
    ours = [str(_TESTS), *([str(_PACKAGE)] if with_package else [])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*others, *ours])}
