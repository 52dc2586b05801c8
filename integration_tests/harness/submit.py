"""An application that the real `spark-submit` starts, and ZooKeeper's own shell: what README says,
as a stranger types it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from keyroute.zookeeper.java import find_java, find_spark_jars

_END_S = 30
_SHELL_S = 60
_BIN = Path(sys.executable).parent


@contextmanager
def submitted(
    log: Path, script: Path, *arguments: str, options: tuple[str, ...], conf: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """The script under spark-submit, with nothing of ours on Python's path; it and all that it
    started end at the end."""
    settings = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "PATH": f"{_BIN}:{os.environ['PATH']}"}
    for name in ("PYTHONPATH", "PYSPARK_PYTHON"):
        environment.pop(name, None)
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["spark-submit", *options, *settings, str(script), *arguments],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process)


def zookeeper_shell(connect: str, *commands: str) -> str:
    """What ZooKeeper's own shell answers to commands that are typed one after the other."""
    jars = f"{find_spark_jars()}/*"
    main = "org.apache.zookeeper.ZooKeeperMain"
    answer = subprocess.run(
        [find_java(), "-cp", jars, main, "-server", connect],
        input="".join(f"{command}\n" for command in (*commands, "quit")),
        capture_output=True,
        text=True,
        timeout=_SHELL_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_END_S)
    finally:
        # Executors, and whatever did not hear the first word.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
