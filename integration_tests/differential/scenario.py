"""A scenario: what is run, when the tables change, what goes wrong. A seed makes the same again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from harness.stores import STORES

from differential.workloads import ALL, Workload

POINTS = ("offsets", "handoff", "route", "state", "commit")
_BACK_SHARE = 0.2
_CHANGE_SHARE = 0.5
_FAULT_SHARE = 0.5


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong in a batch.

    Attributes:
        kind: `driver` (SIGKILL), `before` and `after` (a task attempt fails
            before or after its stores are committed), `lost` and `damaged` (SIGKILL of the driver,
            and a handoff file is deleted or changed before it starts again).
        point: the file of the batch in the checkpoint at which a kill comes, one of POINTS.
    """

    kind: str
    batch: int
    point: str


@dataclass(frozen=True)
class Scenario:
    """One run of the bench.

    Attributes:
        changes: for each batch before which tables are published, their seed; None: the empty ones.
    """

    seed: int
    workload: str
    store: str
    batches: int
    changes: dict[int, int | None]
    faults: tuple[Fault, ...]

    @property
    def query(self) -> Workload:
        return ALL[self.workload]


def draw(
    seed: int,
    batches: int = 10,
    workloads: Sequence[str] = tuple(ALL),
    kinds: Sequence[str] = ("driver", "before", "after", "lost", "damaged"),
) -> Scenario:
    """The scenario of a seed, among some workloads and kinds of faults (none: no fault)."""
    rng = random.Random(seed)
    workload = ALL[rng.choice(list(workloads))]
    stores = [s for s in STORES if not (workload.needs_families and s == "hdfs")]
    changes: dict[int, int | None] = {}
    for batch in range(1, batches - 1):
        if rng.random() < _CHANGE_SHARE:
            changes[batch] = None if rng.random() < _BACK_SHARE else rng.randrange(1 << 30)
    faults = ()
    if changes and kinds and rng.random() < _FAULT_SHARE:
        kind = rng.choice(list(kinds))
        batch = rng.choice(sorted(changes))
        point = "route" if kind in ("lost", "damaged") else rng.choice(POINTS)
        faults = (Fault(kind, batch, point),)
    return Scenario(seed, workload.name, rng.choice(stores), batches, changes, faults)
