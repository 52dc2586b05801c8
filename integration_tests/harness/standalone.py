"""A Spark cluster whose workers are on hosts of their own, as far as Spark can tell.

Spark runs no speculative copy on the host of the first attempt, and on local-cluster all executors
have one host. Every address of 127.0.0.0/8 is this machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

from harness.eventually import eventually
from keyroute.zookeeper.java import find_spark_jars

_PACKAGE = "org.apache.spark.deploy"
_END_S = 20
_START_S = 90
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
# What the master logs of the ports that it took.
_URL = re.compile(r"Starting Spark master at (spark://\S+)")
_WEB = re.compile(r"Bound MasterWebUI to .*http://\S+:(\d+)")


@contextmanager
def standalone_cluster(folder: Path, workers: int) -> Iterator[str]:
    """A master, and workers of one core each; the master's URL."""
    with ExitStack() as stack:
        log = folder / "master.log"
        ports = ("--port", "0", "--webui-port", "0")
        stack.enter_context(_started(log, "master.Master", "--host", "127.0.0.1", *ports))
        url, web = _said(log, _URL), _said(log, _WEB)
        for number in range(2, workers + 2):
            stack.enter_context(
                _started(
                    folder / f"worker-{number}.log",
                    "worker.Worker",
                    *("--host", f"127.0.0.{number}", "--cores", "1", "--memory", "1200m"),
                    *("--work-dir", str(folder / f"worker-{number}"), "--webui-port", "0", url),
                )
            )
        eventually(_START_S, f"{workers} workers have registered", lambda: _alive(web) == workers)
        yield url


def _said(log: Path, line: re.Pattern[str]) -> str:
    """What the first such line of the log says."""
    found = eventually(_START_S, f"{log} has {line.pattern}", lambda: line.search(log.read_text()))
    return found.group(1)


def _alive(web: str) -> int:
    try:
        with urlopen(f"http://127.0.0.1:{web}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except OSError:
        return 0


@contextmanager
def _started(log: Path, name: str, *arguments: str) -> Iterator[None]:
    home = find_spark_jars().parent
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_JAVA_OPTS": _SMALL}
    command = [str(home / "bin" / "spark-class"), f"{_PACKAGE}.{name}", *arguments]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
