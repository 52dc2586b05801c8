"""The executors' processes of an application."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

_EXECUTOR = b"org.apache.spark.executor.CoarseGrainedExecutorBackend"


def kill_an_executor_of(application: str) -> int:
    """SIGKILL to an executor of the application with this id, on any cluster; its process id."""
    for folder in Path("/proc").glob("[0-9]*"):
        command = _command(int(folder.name))
        if _EXECUTOR in command and application.encode() in command:
            os.kill(int(folder.name), signal.SIGKILL)
            return int(folder.name)
    raise AssertionError(f"application {application} has no executor")


def kill_an_executor(python: int) -> int:
    """SIGKILL to one executor of the application that a Python process drives on local-cluster; its
    process id.

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
