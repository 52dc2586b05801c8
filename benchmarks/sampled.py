"""Planners that see of each period what executors would have counted of it in large tasks.

As `TaskSketches` samples: of a task's rows every k-th is taken, for k; the `first` rows all, then k
doubles whenever half as many were taken with one k. Here a period is one batch, each operator's
exchange has `tasks` map tasks of as many rows, and a task's rows come in random order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keyroute.core.plan import Plan, Planner, PlanRequest, between_of
from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
    SlotPairs,
)
from keyroute.core.table import Int64Array


class Sampled:
    """The planner, asked about samples. Periods are replays': each key and pair with its count."""

    def __init__(self, planner: Planner, first: int, tasks: int = 2) -> None:
        self._planner, self._first, self._tasks = planner, first, tasks
        self._known: dict[Period, Period] = {}
        between = between_of(planner)
        self.between = None if between is None else Sampled(between, first, tasks)

    def __call__(self, request: PlanRequest) -> Plan:
        self._known = {
            period: self._known.get(period) or self._of_period(period) for period in request.periods
        }
        return self._planner(replace(request, periods=tuple(self._known.values())))

    def _of_period(self, period: Period) -> Period:
        rng = np.random.default_rng(period.first_batch)
        edges, keys = [], {}
        for edge in period.edges:
            counts = self._counts(edge.pairs.counts, rng)
            edges.append(_edge(edge, counts, period))
            keys[edge.downstream_group] = (edge.pairs.downstream, counts)
        groups = []
        for group in period.groups:
            own = (group.keys.fingerprints, self._counts(group.keys.counts, rng))
            # A downstream key is taken with its pair.
            groups.append(_group(group, *keys.get(group.shape.group, own)))
        return replace(period, groups=tuple(groups), edges=tuple(edges))

    def _counts(self, counts: Int64Array, rng: np.random.Generator) -> Int64Array:
        """The counts as a sample has them."""
        rows = rng.permutation(np.repeat(np.arange(len(counts)), counts))
        taken: Int64Array = np.zeros(len(counts), np.int64)
        for task in np.array_split(rows, self._tasks):
            for weight, of in zip(*_steps(len(task), self._first, rng), strict=True):
                np.add.at(taken, task[of], weight)
        return taken


def _steps(rows: int, first: int, rng: np.random.Generator) -> tuple[list[int], list[slice]]:
    """What each taken row counts for, and which are taken, while that stays the same."""
    weights, of = [], []
    start, weight = 0, 1
    while start < rows:
        stop = start + (first if weight == 1 else first // 2 * weight)
        weights.append(weight)
        of.append(slice(start + int(rng.integers(weight)), min(stop, rows), weight))
        start, weight = stop, weight * 2
    return weights, of


def _group(group: GroupStatistics, prints: Int64Array, counts: Int64Array) -> GroupStatistics:
    keys, of = np.unique(prints, return_inverse=True)
    rows = _sums(of, counts, len(keys))
    order = np.argsort(-rows, kind="stable")
    order = order[rows[order] > 0]
    return replace(
        group,
        keys=KeyCounts(
            int(rows.sum()),
            keys[order],
            rows[order],
            np.zeros(len(order), np.int64),
            slots=_slots(group, keys[order]),
        ),
    )


def _edge(edge: EdgeStatistics, counts: Int64Array, period: Period) -> EdgeStatistics:
    kept = counts > 0
    up, down, rows = edge.pairs.upstream[kept], edge.pairs.downstream[kept], counts[kept]
    groups = {group.shape.group: group for group in period.groups}
    below = groups[edge.downstream_group]
    slots = below.shape.slots
    cells, of = np.unique(
        _slots(groups[edge.upstream_group], up) * slots + _slots(below, down), return_inverse=True
    )
    total = int(rows.sum())
    return replace(
        edge,
        pairs=PairCounts(total, up, down, rows, np.zeros(len(rows), np.int64)),
        slot_pairs=SlotPairs(cells // slots, cells % slots, _sums(of, rows, len(cells))),
    )


def _slots(group: GroupStatistics, prints: Int64Array) -> Int64Array:
    """The slot of each key, as the group's own keys have it."""
    order = np.argsort(group.keys.fingerprints)
    found = np.searchsorted(group.keys.fingerprints, prints, sorter=order)
    return group.keys.slots[order[found]]


def _sums(cells: NDArray[np.int64], rows: Int64Array, size: int) -> Int64Array:
    return np.rint(np.bincount(cells, rows, size)).astype(np.int64)
