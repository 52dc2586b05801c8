"""How good a version of the tables would have been on a period: locality and imbalance.

Sketches carry fingerprints, and a key's slot cannot be told from its fingerprint. So a key without
an explicit entry is taken to be on any partition with equal chance, and the rows of keys that no
sketch holds likewise: their slots' rows, less those of explicit keys, are spread evenly.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from keyroute.core.graph import FloatArray, rows_of_keys
from keyroute.core.statistics import EdgeStatistics, GroupStatistics, Period, imbalance
from keyroute.core.table import GroupShape, Int32Array, Int64Array, RoutingTables


def locality(
    tables: RoutingTables, periods: Iterable[Period], placed: tuple[int, ...] = ()
) -> float | None:
    """Expected share of the edges' rows whose two keys share an executor; None without such rows.

    Executors are the tables' parts; where they have none, `placed` (n,) is each partition's, and
    where that is empty each partition has one of its own.
    """
    rows, local = 0.0, 0.0
    for period in periods:
        shapes = {g.shape.group: g.shape for g in period.groups}
        for edge in period.edges:
            if edge.upstream_group in shapes and edge.downstream_group in shapes:
                rows += edge.rows
                local += _local_rows(tables, edge, shapes, tables.parts or placed)
    return local / rows if rows else None


def group_imbalance(tables: RoutingTables, group: GroupStatistics, period: Period) -> float:
    """Expected max/mean of a group's partitions on a period of which `group` is a part."""
    return imbalance(partition_rows(tables, group, period))


def partition_rows(tables: RoutingTables, group: GroupStatistics, period: Period) -> FloatArray:
    """Expected rows of each partition (n,): explicit keys at their target, the rest even."""
    fingerprints, rows = rows_of_keys(group.shape.group, period)
    targets = tables.group(group.shape).explicit(fingerprints)
    n = group.shape.partitions
    placed = np.bincount(targets[targets >= 0], rows[targets >= 0], minlength=n)
    rest: FloatArray = placed + max(group.rows - placed.sum(), 0.0) / n
    return rest


def expected_imbalance(tables: RoutingTables, periods: Iterable[Period]) -> dict[int, float]:
    """Expected imbalance of each group over all these periods together."""
    totals: dict[int, FloatArray] = {}
    for period in periods:
        for group in period.groups:
            rows = partition_rows(tables, group, period)
            totals[group.shape.group] = totals.get(group.shape.group, 0.0) + rows
    return {group: imbalance(rows) for group, rows in sorted(totals.items())}


def measured_imbalance(periods: Iterable[Period]) -> dict[int, float]:
    """Imbalance of each group's partitions as counted, over all these periods together."""
    totals: dict[int, Int64Array] = {}
    for period in periods:
        for group in period.groups:
            if len(group.partition_rows):
                so_far = totals.get(group.shape.group, np.zeros(1, np.int64))
                totals[group.shape.group] = so_far + group.partition_rows
    return {group: imbalance(rows) for group, rows in sorted(totals.items())}


def _local_rows(
    tables: RoutingTables,
    edge: EdgeStatistics,
    shapes: dict[int, GroupShape],
    placed: tuple[int, ...],
) -> float:
    up, down = shapes[edge.upstream_group], shapes[edge.downstream_group]
    n = max(up.partitions, down.partitions)
    parts = np.array(placed if len(placed) >= n else range(n), dtype=np.int32)
    up_part, up_spread = _part_of(tables, up, edge.pairs.upstream, parts)
    down_part, down_spread = _part_of(tables, down, edge.pairs.downstream, parts)
    together = np.where(
        up_part < 0,
        np.where(down_part < 0, up_spread @ down_spread, up_spread[down_part]),
        np.where(down_part < 0, down_spread[up_part], up_part == down_part),
    )
    rows = edge.pairs.counts - edge.pairs.errors
    unseen = max(edge.rows - float(rows.sum()), 0.0)
    return float(rows @ together) + unseen * float(up_spread @ down_spread)


def _part_of(
    tables: RoutingTables, shape: GroupShape, fingerprints: Int64Array, parts: Int32Array
) -> tuple[Int32Array, FloatArray]:
    """Part of each key (-1: unknown), and the share of the group's partitions in each part."""
    targets = tables.group(shape).explicit(fingerprints)
    spread = np.bincount(parts[: shape.partitions], minlength=int(parts.max()) + 1)
    return np.where(targets < 0, -1, parts[targets]), spread / shape.partitions
