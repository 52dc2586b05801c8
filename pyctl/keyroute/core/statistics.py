"""Statistics of a query as arrays: what the gateway answers, ready for planning.

Fingerprints are int64, counts are int64 rows. A sketch's true count lies in [count - error, count],
and counts are estimates where tasks sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from keyroute.core.table import GroupShape, Int64Array


def _none() -> Int64Array:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class KeyCounts:
    """Heavy keys of one group: arrays of one length, heaviest first; `rows` were offered.

    `slots` is each key's slot, or empty where it is not known or a key has more than one.
    """

    rows: int
    fingerprints: Int64Array
    counts: Int64Array
    errors: Int64Array
    labels: tuple[str, ...] = ()
    slots: Int64Array = field(default_factory=_none)


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Heavy pairs (upstream key, downstream key): arrays of one length; `rows` were offered."""

    rows: int
    upstream: Int64Array
    downstream: Int64Array
    counts: Int64Array
    errors: Int64Array


def _no_pairs() -> PairCounts:
    return PairCounts(0, _none(), _none(), _none(), _none())


@dataclass(frozen=True, slots=True, eq=False)
class SlotPairs:
    """Rows between slots of two groups, sparse: arrays of one length, no cell twice.

    `left_out` rows are in no cell; while there are none, the cells are exact, else lower bounds,
    and estimates where tasks sampled.
    """

    upstream: Int64Array = field(default_factory=_none)
    downstream: Int64Array = field(default_factory=_none)
    rows: Int64Array = field(default_factory=_none)
    left_out: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GroupStatistics:
    """Rows of one group: exact for each slot (S,) and partition (n,), sketched for keys.

    Each of these is empty where it is not known: `slot_state_rows` and `slot_state_bytes` (S,),
    estimates of what is kept in each slot at the period's end; `partition_ms` (n,), run time of the
    partitions' tasks; `sources`, pairs of (source partition, key).
    """

    shape: GroupShape
    rows: int
    slot_rows: Int64Array
    partition_rows: Int64Array
    explicit_rows: int
    keys: KeyCounts
    slot_state_rows: Int64Array = field(default_factory=_none)
    slot_state_bytes: Int64Array = field(default_factory=_none)
    partition_ms: Int64Array = field(default_factory=_none)
    sources: PairCounts = field(default_factory=_no_pairs)


@dataclass(frozen=True, slots=True, eq=False)
class EdgeStatistics:
    """Rows that went from one group to another, how many stayed on their executor, and pairs."""

    upstream_group: int
    downstream_group: int
    rows: int
    local_rows: int
    pairs: PairCounts
    slot_pairs: SlotPairs = field(default_factory=SlotPairs)


@dataclass(frozen=True, slots=True, eq=False)
class Period:
    """Statistics of some consecutive batches under one table."""

    first_batch: int
    last_batch: int
    table_version: int
    rows: int
    groups: tuple[GroupStatistics, ...]
    edges: tuple[EdgeStatistics, ...]
    local_bytes: int = 0
    remote_bytes: int = 0

    def measured_locality(self) -> float | None:
        """Share of the edges' rows that stayed on their executor; None where none was seen."""
        rows = sum(e.rows for e in self.edges)
        return sum(e.local_rows for e in self.edges) / rows if rows else None


@dataclass(frozen=True, slots=True)
class PartitionPlacement:
    """Where a partition's operator was last seen to run; `zone` is empty where it is not known."""

    group: int
    partition: int
    executor: str
    host: str
    zone: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class QueryStatistics:
    """Closed periods, oldest first, then the open one."""

    query_id: str
    run_id: str
    name: str
    periods: tuple[Period, ...]
    placement: tuple[PartitionPlacement, ...]
    table_version: int
    batch: int

    @property
    def shapes(self) -> tuple[GroupShape, ...]:
        """Shape of each group that any period saw, ascending by group."""
        seen = {g.shape.group: g.shape for p in self.periods for g in p.groups}
        return tuple(shape for _, shape in sorted(seen.items()))

    @property
    def to_plan_from(self) -> tuple[Period, ...]:
        """The periods, without those that tell nothing: empty ones, and an open one with less than
        half of the rows of another. Planners take the last one for what will come next."""
        counted = tuple(period for period in self.periods if period.rows)
        most = max((period.rows for period in counted), default=0)
        return counted[:-1] if counted and counted[-1].rows < most / 2 else counted

    @property
    def placed(self) -> tuple[int, ...]:
        """Executor of each partition (n,), numbered from 0 on; empty where not all were seen.

        Partition i of all groups is meant to be on one executor: the least group that was seen
        whole tells.
        """
        for shape in self.shapes:
            seen = {p.partition: p.executor for p in self.placement if p.group == shape.group}
            if len(seen) == shape.partitions:
                numbers = {executor: i for i, executor in enumerate(sorted(set(seen.values())))}
                return tuple(numbers[seen[p]] for p in range(shape.partitions))
        return ()


def imbalance(rows: Int64Array | NDArray[np.float64]) -> float:
    """max / mean over partitions; 1.0 is perfect, and what no rows at all count as."""
    total = float(np.sum(rows))
    return float(np.max(rows)) * len(rows) / total if total else 1.0
