"""The lanes of the bench, and one scenario run in all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.tests_jar import MUTANT_PLUGIN, find_tests_jar

from differential.compare import differences
from differential.drive import Drive, Run
from differential.events import random_batches
from differential.lane import Lane
from differential.scenario import Scenario
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_ROOT = "/keyroute"


@dataclass(frozen=True)
class Verdict:
    """What came of a scenario.

    Attributes:
        changes: tables that came into force.
        moved: state rows that their switches moved.
        differences: what was not as it must be; empty: exact.
    """

    scenario: Scenario
    changes: int
    moved: int
    faults: tuple[str, ...]
    differences: list[str]


class Bench:
    """Three lanes: Spark alone (`plain`); KeyRoute without a table (`empty`); KeyRoute whose tables
    change (`changed`)."""

    def __init__(self, folder: Path, master: str, conf: dict[str, str] | None = None) -> None:
        self._folder = folder
        self.zookeeper = ZooKeeperServer()
        self._master = master
        self._conf = conf or {}
        self.lanes: dict[str, Lane] = {}

    def __enter__(self) -> Bench:
        self.zookeeper.__enter__()
        for name in ("plain", "empty", "changed"):
            self.lanes[name] = self._lane(name, {} if name == "plain" else self._conf)
        self._client = connect(self.zookeeper.connect_string)
        self.store = Store(Session(self._client), Tree(_ROOT))
        return self

    def _lane(self, name: str, conf: dict[str, str], plugin: str | None = None) -> Lane:
        config: dict[str, Any] = {
            "zookeeper": None if name == "plain" else self.zookeeper.connect_string,
            "root": _ROOT,
            "master": self._master,
            "conf": conf,
            "plugin": plugin,
        }
        return Lane(self._folder / name, config)

    @contextmanager
    def mutated(self) -> Iterator[Lane]:
        """Meanwhile the lane whose tables change is this one, which migrates wrongly."""
        sound = self.lanes["changed"]
        conf = {**self._conf, "spark.jars": find_tests_jar()}
        self.lanes["changed"] = self._lane("mutant", conf, MUTANT_PLUGIN)
        try:
            yield self.lanes["changed"]
        finally:
            self.lanes["changed"].kill()
            self.lanes["changed"] = sound

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for lane in self.lanes.values():
            lane.kill()
        close(self._client)
        self.zookeeper.__exit__(kind, error, trace)

    def run(self, scenario: Scenario) -> Verdict:
        """Runs it in all lanes at once. The folders of a scenario that was exact are removed."""
        batches = random_batches(scenario.seed, scenario.batches)
        folder = self._folder / "runs" / str(scenario.seed)

        def drive(name: str) -> Run:
            own = folder / name
            own.mkdir(parents=True)
            store = None if name == "plain" else self.store
            return Drive(
                self.lanes[name], scenario, batches, own, store, change=name == "changed"
            ).run()

        with ThreadPoolExecutor(3) as pool:
            runs = dict(zip(self.lanes, pool.map(drive, self.lanes), strict=True))
        found = [
            sentence
            for name in ("empty", "changed")
            for sentence in differences(scenario, name, runs["plain"], runs[name])
        ]
        if not found:
            shutil.rmtree(folder)
        changed = runs["changed"]
        return Verdict(scenario, changed.changes, changed.moved, changed.faults, found)
