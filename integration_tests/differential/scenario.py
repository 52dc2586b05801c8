"""A scenario: what is run, when the tables change, what goes wrong. A seed makes the same again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.stores import STORES

from differential.workloads import ALL, Workload

POINTS = ("offsets", "handoff", "route", "state", "commit")
LOCAL_FAULTS = ("driver", "before", "after", "lost", "damaged")
CLUSTER_FAULTS = (*LOCAL_FAULTS, "executor", "copy-before", "copy-after")
# What a task attempt does to itself, told by a file of that name.
OF_ATTEMPTS = ("before", "after", "copy-before", "copy-after")
_BACK_SHARE = 0.2
_CHANGE_SHARE = 0.9
_FAULT_SHARE = 0.4


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong in a batch.

    Attributes:
        kind: `driver` and `executor` (SIGKILL); `before` and `after` (a task attempt fails before
            or after its store is committed); `copy-before` and `copy-after` (it waits until a
            speculative copy of it has come as far); `lost` and `damaged` (SIGKILL of the driver,
            and a handoff file is deleted or changed before it starts again).
        point: the file of the batch in the checkpoint at which a kill comes, one of POINTS.
    """

    kind: str
    batch: int
    point: str


@dataclass(frozen=True)
class Trial:
    """One run whose tables change.

    Attributes:
        changes: for each batch before which tables are published, their seed; None: the empty ones.
    """

    changes: dict[int, int | None]
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """A query and its input: run once by Spark alone, once with KeyRoute and no table, and once for
    each trial."""

    seed: int
    workload: str
    store: str
    batches: int
    trials: tuple[Trial, ...]

    @property
    def query(self) -> Workload:
        return ALL[self.workload]


def to_json(scenario: Scenario) -> dict[str, Any]:
    """For a file of results."""
    return asdict(scenario)


def from_json(data: dict[str, Any]) -> Scenario:
    """What `to_json` made."""
    trials = tuple(
        Trial(
            {int(batch): seed for batch, seed in trial["changes"].items()},
            tuple(Fault(**fault) for fault in trial["faults"]),
        )
        for trial in data["trials"]
    )
    return Scenario(data["seed"], data["workload"], data["store"], data["batches"], trials)


def draw(
    seed: int,
    batches: int,
    trials: int,
    workloads: Sequence[str] = tuple(ALL),
    kinds: Sequence[str] = LOCAL_FAULTS,
) -> Scenario:
    """The scenario of a seed, among some workloads and kinds of faults (none: no fault).

    Seeds in a row take turns: each workload runs on each of its stores before any does so again.
    """
    rng = random.Random(seed)
    cells = [
        (w, s) for w in workloads for s in STORES if not (ALL[w].needs_families and s == "hdfs")
    ]
    random.Random(0).shuffle(cells)
    workload, store = cells[seed % len(cells)]
    drawn = tuple(_trial(rng, batches, kinds) for _ in range(trials))
    return Scenario(seed, workload, store, batches, drawn)


def _trial(rng: random.Random, batches: int, kinds: Sequence[str]) -> Trial:
    changes: dict[int, int | None] = {}
    for batch in range(1, batches - 1):
        if rng.random() < _CHANGE_SHARE:
            changes[batch] = None if rng.random() < _BACK_SHARE else rng.randrange(1 << 30)
    if not (changes and kinds and rng.random() < _FAULT_SHARE):
        return Trial(changes)
    kind = rng.choice(list(kinds))
    point = "route" if kind in ("lost", "damaged") else rng.choice(POINTS)
    return Trial(changes, (Fault(kind, rng.choice(sorted(changes)), point),))
