"""Starts, holds and kills the program in `apps/counting.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.change import carry, publish_random
from harness.child import environment
from harness.eventually import eventually
from harness.executors import kill_an_executor
from harness.feed import Feed, rows
from harness.operators import Operator, differences
from keyroute.controller.carry import Outcome
from keyroute.zookeeper.store import Store

_ROOT = Path(__file__).parents[1]
_START_S = 120


def write_config(
    operator: Operator, folder: Path, zookeeper: str, root: str, conf: Mapping[str, str]
) -> Path:
    """What the program asks for: its file, beside the folder of markers, which is made."""
    markers = folder / "markers"
    markers.mkdir()
    config = folder / "config.json"
    config.write_text(
        json.dumps(
            {
                "operator": operator.name,
                "folder": str(folder),
                "zookeeper": zookeeper,
                "root": root,
                "token": str(folder / "token"),
                "markers": str(markers),
                "conf": dict(conf),
            }
        )
    )
    return config


class Killable:
    """A user's query in a process of its own.

    `log` has what the process printed, for a test that fails.
    """

    def __init__(
        self,
        operator: Operator,
        folder: Path,
        zookeeper: str,
        root: str,
        store: Store,
        conf: dict[str, str] | None = None,
    ) -> None:
        self.operator = operator
        self.folder = folder
        self.store = store
        self.feed = Feed(folder / "in")
        self.markers = folder / "markers"
        self.log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        self._config = write_config(operator, folder, zookeeper, root, conf or {})

    def start(self) -> None:
        """Starts the process and waits until the query runs."""
        identity = self.markers / "query-id"
        identity.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(_ROOT / "apps" / "counting.py"), str(self._config)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(),
                start_new_session=True,
            )
        eventually(_START_S, "the query has started", lambda: self._alive() and identity.exists())

    @property
    def id(self) -> str:
        return (self.markers / "query-id").read_text()

    def kill(self) -> None:
        """SIGKILL to the driver and to all that it started, as far as they run."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def kill_an_executor(self) -> int:
        """SIGKILL to one executor; its process id."""
        assert self._process is not None
        return kill_an_executor(self._process.pid)

    def finish(self) -> None:
        """Lets the query end its input and the process end by itself."""
        assert self._process is not None
        for marker in self.markers.glob("*-*"):
            if marker.name != "query-id":
                marker.unlink()
        (self.markers / "end").touch()
        code = self._process.wait(_START_S)
        assert code == 0, self.log.read_text()[-3000:]

    def run(self, batches: int) -> None:
        """Feeds so many batches and waits for their output."""
        for _ in range(batches):
            self.feed.put(rows(len(self.feed.batches)))
        last = len(self.feed.batches) - 1
        self.wait_for(self.folder / "out" / f"{last}.json", f"batch {last} is done")

    def wait_for(self, path: Path, what: str, seconds: float = 90) -> None:
        """Until the file is there; the process must live."""
        eventually(seconds, what, lambda: self._alive() and path.exists())

    def hold(self, marker: str) -> None:
        """Makes user code block at the marker."""
        (self.markers / marker).touch()

    def release(self, marker: str) -> None:
        """Lets it go on."""
        (self.markers / marker).unlink()

    def held(self, marker: str, seconds: float = 90) -> None:
        """Waits until user code blocks at the marker."""
        self.wait_for(self.markers / f"at-{marker}", f"user code blocks at {marker}", seconds)

    def publish(self, seed: int) -> int:
        """Publishes a random table; its version."""
        return publish_random(self.store, self.id, self.feed.batches, seed)

    def carry(self, version: int, seconds: float) -> Outcome:
        """Does the controller's steps for so long at most."""
        return carry(self.store, self.id, version, seconds)

    def differences(self) -> list[str]:
        """What was emitted beside the batch computation of the same input; empty: exact."""
        emitted: dict[int, list[Any]] = {
            int(path.stem): json.loads(path.read_text())
            for path in (self.folder / "out").glob("[0-9]*.json")
        }
        return differences(self.operator, emitted, self.feed.batches)

    def _alive(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the driver ended: {self.log.read_text()[-3000:]}")
        return True
