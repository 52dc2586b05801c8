"""The executors' processes of an application on local-cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def kill_an_executor(python: int) -> int:
    """SIGKILL to one executor of the application that a Python process drives; its process id.

    The JVM of the driver is a child of the Python process, the executors are children of the JVM.
    """
    for jvm in _children(python):
        for child in _children(jvm):
            if _EXECUTOR in _command(child):
                os.kill(child, signal.SIGKILL)
                return child
    raise AssertionError(f"the application of process {python} has no executor")


def _children(parent: int) -> Iterator[int]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Fields after the command's name, which may hold anything but ends with ")".
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            yield int(folder.name)


def _command(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
