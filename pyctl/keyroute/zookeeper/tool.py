"""Runs a class of the jars in a JVM of its own, which answers with one line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from keyroute.zookeeper.errors import ServerError

_CONFIGURATION = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR")


def run_tool(
    java: str,
    jars: Sequence[Path],
    main: str,
    arguments: Sequence[str],
    environment: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """The JSON object on the last line of its output. Raises ServerError where there is none.

    Hadoop's configuration folders that the environment names come first on the class path.
    """
    folders = [environment[name] for name in _CONFIGURATION if environment.get(name)]
    path = os.pathsep.join([*folders, *(str(jar) for jar in jars)])
    command = [java, "-XX:+UseSerialGC", "-Dlog4j2.level=ERROR", "-cp", path, main, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise ServerError(f"{main} ended with {done.returncode}: {' / '.join(said)}")
    return answer
