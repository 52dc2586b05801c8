"""Synthetic two-operator streams, counted exactly, for the tests of graph, score and planners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
    SlotPairs,
)
from keyroute.core.table import GroupShape, RoutingTables, default_slots, no_tables

Ids = NDArray[np.int64]


def shape(group: int, partitions: int = 3) -> GroupShape:
    slots = default_slots(partitions)
    return GroupShape(group, (group,), partitions, slots, (0,), (f"k{group}",), ("BIGINT",))


def fingerprints(group: int, ids: Ids) -> Ids:
    """A fixed scattering of ids over 64 bits, different for each group."""
    return (ids + 1 + 1_000_003 * group) * np.int64(0x1E3779B97F4A7C15)


def hashes(group: int, ids: Ids) -> NDArray[np.int32]:
    return ((ids * 2654435761 + group * 97) >> 7).astype(np.int32)


def correlated(
    seed: int, rows: int, clusters: int = 30, keys: int = 300, loyalty: float = 0.9
) -> tuple[Ids, Ids]:
    """Ids of both keys of each row: both from one cluster, but for a share of 1 - loyalty."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, clusters, rows)
    other = np.where(rng.random(rows) < loyalty, cluster, rng.integers(0, clusters, rows))
    each = keys // clusters
    return cluster * each + rng.integers(0, each, rows), other * each + rng.integers(0, each, rows)


def count(columns: tuple[Ids, ...], tables: RoutingTables | None = None, n: int = 3) -> Period:
    """A chain of operators, one for each column, counted under some tables."""
    tables = no_tables("q") if tables is None else tables
    routed, groups = [], []
    for g, ids in enumerate(columns):
        table = tables.group(shape(g, n))
        prints, murmur = fingerprints(g, ids), hashes(g, ids)
        routed.append(table.route(murmur, prints))
        groups.append(_group(shape(g, n), prints, murmur, routed[-1], table.explicit(prints)))
    edges = tuple(
        replace(
            pairs_of(g, fingerprints(g, columns[g]), fingerprints(g + 1, columns[g + 1])),
            local_rows=int((routed[g] == routed[g + 1]).sum()),
            slot_pairs=_slot_pairs(_slots(g, columns[g], n), _slots(g + 1, columns[g + 1], n)),
        )
        for g in range(len(columns) - 1)
    )
    return Period(0, 0, tables.version, len(columns[0]), tuple(groups), edges)


def pairs_of(upstream_group: int, upstream: Ids, downstream: Ids) -> EdgeStatistics:
    pairs, counts = np.unique(np.stack([upstream, downstream]), axis=1, return_counts=True)
    return EdgeStatistics(
        upstream_group,
        upstream_group + 1,
        len(upstream),
        0,
        PairCounts(len(upstream), pairs[0], pairs[1], counts, np.zeros_like(counts)),
    )


def without_slots(period: Period) -> Period:
    """As an older plugin counts: keys do not know their slots, and slots have no pairs."""
    groups = (replace(g, keys=replace(g.keys, slots=np.empty(0, np.int64))) for g in period.groups)
    edges = (replace(e, slot_pairs=SlotPairs()) for e in period.edges)
    return replace(period, groups=tuple(groups), edges=tuple(edges))


def measure(tables: RoutingTables, columns: tuple[Ids, Ids], n: int = 3) -> tuple[float, float]:
    """(locality, worst imbalance) of rows routed by the tables."""
    routed = [
        tables.group(shape(g, n)).route(hashes(g, ids), fingerprints(g, ids))
        for g, ids in enumerate(columns)
    ]
    rows = len(columns[0])
    worst = max(np.bincount(r, minlength=n).max() * n / rows for r in routed)
    return float((routed[0] == routed[1]).mean()), float(worst)


def _group(
    of: GroupShape,
    prints: Ids,
    murmur: NDArray[np.int32],
    routed: NDArray[np.int32],
    explicit: NDArray[np.int32],
) -> GroupStatistics:
    slots = np.mod(murmur.astype(np.int64), of.slots)
    keys, first, counts = np.unique(prints, return_index=True, return_counts=True)
    return GroupStatistics(
        shape=of,
        rows=len(prints),
        slot_rows=np.bincount(slots, minlength=of.slots),
        partition_rows=np.bincount(routed, minlength=of.partitions),
        explicit_rows=int((explicit >= 0).sum()),
        keys=KeyCounts(len(prints), keys, counts, np.zeros_like(counts), slots=slots[first]),
    )


def _slots(group: int, ids: Ids, n: int) -> Ids:
    return np.mod(hashes(group, ids).astype(np.int64), shape(group, n).slots)


def _slot_pairs(upstream: Ids, downstream: Ids) -> SlotPairs:
    cells, rows = np.unique(np.stack([upstream, downstream]), axis=1, return_counts=True)
    return SlotPairs(cells[0], cells[1], rows)
