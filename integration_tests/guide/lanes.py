"""Two applications: Spark alone, and KeyRoute in stress mode; one example run in both."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differential import routelog
from differential.drive import outputs
from differential.lane import Lane
from harness.bare_files import bare_files
from harness.cluster import QUICK

from guide.example import Example

STRESS_SEED = "spark.keyroute.stress.seed"
_IDLE = "spark.sql.streaming.noDataMicroBatches.enabled"
_STRESS = "spark.keyroute.stress.batches"


@dataclass(frozen=True)
class Outcome:
    """What came of an example.

    Attributes:
        plain: rows of each batch, as JSON, sorted, by Spark alone.
        stressed: the same while the tables change.
        switches: versions that came into force.
        moved: state rows of each operator that moved; 0 for one that is routed and had none.
        bypassed: reasons why operators are not routed.
    """

    plain: dict[int, list[str]]
    stressed: dict[int, list[str]]
    switches: int
    moved: dict[int, int]
    bypassed: set[str]


class Lanes:
    """Both applications; a context manager."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self.seed = seed
        quick = {**QUICK, **bare_files(), "spark.sql.shuffle.partitions": "3"}
        stress = {**quick, _STRESS: "1", STRESS_SEED: str(seed)}
        self._lanes = {
            "plain": self._lane("plain", quick),
            "stressed": self._lane("stressed", stress),
        }

    def _lane(self, name: str, conf: dict[str, str]) -> Lane:
        config: dict[str, Any] = {
            "plain": name == "plain",
            "zookeeper": None,
            "root": "/keyroute",
            "master": "local[2]",
            "conf": conf,
            "plugin": None,
            "workloads": "guide.catalogue",
        }
        return Lane(self._folder / name, config)

    def __enter__(self) -> Lanes:
        return self

    def __exit__(self, *error: object) -> None:
        for lane in self._lanes.values():
            lane.kill()

    def run(self, example: Example) -> Outcome:
        """Runs it in both at once."""
        with ThreadPoolExecutor(2) as pool:
            plain = pool.submit(self._through, "plain", example)
            stressed = pool.submit(self._through, "stressed", example)
            folders = plain.result(), stressed.result()
        entries = routelog.entries(folders[1] / "checkpoint").values()
        switches = [entry.switch for entry in entries if entry.HasField("switch")]
        moved = {o: 0 for entry in entries for group in entry.groups for o in group.operators}
        for rows in (rows for switch in switches for rows in switch.moved):
            moved[rows.operator] += rows.rows
        return Outcome(
            *(outputs(folder) for folder in folders),
            switches=len(switches),
            moved=moved,
            bypassed={operator.reason for entry in entries for operator in entry.bypassed},
        )

    def refusal(self, name: str, example: Example) -> str:
        """The last word of Spark on an example that it refuses."""
        try:
            self._through(name, example)
        except RuntimeError as error:
            return next(line for line in str(error).splitlines() if "AnalysisException: " in line)
        raise AssertionError(f"{example.name} runs")

    def _through(self, name: str, example: Example) -> Path:
        folder = self._folder / "runs" / example.name / name
        example.write(folder)
        self._lanes[name].ask("set", key=_IDLE, value=str(example.idle).lower())
        arguments = {"workload": example.name, "store": example.store, "folder": str(folder)}
        self._lanes[name].ask("through", **arguments)
        return folder
