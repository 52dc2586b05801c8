"""The real `keyroute` command, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer


def keyroute(*arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run(
        _command(*arguments), capture_output=True, text=True, timeout=timeout_s, check=False
    )


@contextmanager
def started(
    log: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A command that goes on, its environment ours and some more; killed at the end where it still
    runs."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(*arguments),
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def at(zookeeper: ZooKeeperServer, tree: Tree) -> tuple[str, ...]:
    """The options that name ZooKeeper and the root."""
    return ("--zookeeper", zookeeper.connect_string, "--root", tree.root)


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "keyroute.cli.main", *arguments]
