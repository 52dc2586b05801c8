"""The lanes of the bench, and one scenario run in all of them."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.cluster import QUICK
from harness.tests_jar import MUTANT_PLUGIN, find_tests_jar

from differential.compare import differences
from differential.drive import Drive, Run
from differential.events import random_batches
from differential.lane import Lane
from differential.scenario import CLUSTER_FAULTS, LOCAL_FAULTS, Scenario, Trial
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_ROOT = "/keyroute"
_PATIENCE_S = 40.0
# A task may fail.
_LOCAL = "local[2,4]"
# Spark copies what takes much longer than the first to end: with format 1 a copy puts a switch off.
_RESTLESS = {
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.multiplier": "5",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "0ms",
}


@dataclass(frozen=True)
class Verdict:
    """What came of a scenario.

    Attributes:
        changes: tables that came into force in each trial.
        moved: state rows that the switches of each trial moved.
        faults: that happened in each trial.
        differences: what was not as it must be; empty: exact.
    """

    scenario: Scenario
    changes: list[int]
    moved: list[int]
    faults: list[tuple[str, ...]]
    differences: list[str]


class Bench:
    """Three lanes: Spark alone (`plain`); KeyRoute without a table (`empty`); KeyRoute whose tables
    change (`changed`).

    `cluster` is the master of the third lane, where it has one of its own: executors that can be
    killed, and copied.
    """

    def __init__(self, folder: Path, conf: dict[str, str], cluster: str | None = None) -> None:
        self._folder = folder
        self.zookeeper = ZooKeeperServer()
        self._conf = conf
        self._cluster = cluster
        self.lanes: dict[str, Lane] = {}
        self._runs = itertools.count()

    @property
    def faults(self) -> tuple[str, ...]:
        """Kinds that can happen here."""
        return CLUSTER_FAULTS if self._cluster else LOCAL_FAULTS

    def __enter__(self) -> Bench:
        self.zookeeper.__enter__()
        for name in ("plain", "empty"):
            self.lanes[name] = self._lane(name, _LOCAL, self._conf)
        changed = (self._cluster, {**self._conf, **_RESTLESS}) if self._cluster else None
        self.lanes["changed"] = self._lane("changed", *(changed or (_LOCAL, self._conf)))
        # On a machine that is busy for hours, nothing may hang on seconds.
        self._client = connect(
            self.zookeeper.connect_string,
            connect_timeout_s=_PATIENCE_S,
            session_timeout_s=_PATIENCE_S,
        )
        self.store = Store(Session(self._client), Tree(_ROOT))
        return self

    def _lane(
        self, name: str, master: str, conf: dict[str, str], plugin: str | None = None
    ) -> Lane:
        config: dict[str, Any] = {
            "zookeeper": None if name == "plain" else self.zookeeper.connect_string,
            "root": _ROOT,
            "master": master,
            "conf": conf,
            "plugin": plugin,
        }
        return Lane(self._folder / name, config)

    @contextmanager
    def mutated(self) -> Iterator[Lane]:
        """Meanwhile the lane whose tables change is this one, which migrates wrongly."""
        sound = self.lanes["changed"]
        # The mutant needs the product beside it, so it is on no class path of its own.
        conf = {**QUICK, "spark.jars": find_tests_jar()}
        self.lanes["changed"] = self._lane("mutant", _LOCAL, conf, MUTANT_PLUGIN)
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
        folder = self._folder / "runs" / f"{next(self._runs)}-seed-{scenario.seed}"

        def drive(lane: str, name: str, trial: Trial | None = None) -> Run:
            own = folder / name
            own.mkdir(parents=True)
            return Drive(self.lanes[lane], scenario, batches, own, self.store, trial).run()

        def trials() -> list[Run]:
            return [drive("changed", f"trial-{i}", t) for i, t in enumerate(scenario.trials)]

        with ThreadPoolExecutor(3) as pool:
            plain = pool.submit(drive, "plain", "plain")
            empty = pool.submit(drive, "empty", "empty")
            changed = pool.submit(trials).result()
        others = {"empty": empty.result()} | {f"trial {i}": run for i, run in enumerate(changed)}
        found = [
            sentence
            for name, run in others.items()
            for sentence in differences(scenario, name, plain.result(), run)
        ]
        if not found:
            # Executors that are being stopped may still write there.
            shutil.rmtree(folder, ignore_errors=True)
        return Verdict(
            scenario,
            [run.changes for run in changed],
            [run.moved for run in changed],
            [run.faults for run in changed],
            found,
        )
