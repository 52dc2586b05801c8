"""How good a version of the tables would have been on a period: locality and imbalance.

Both are sums over sites (`core.sites`): exact where slots and all keys with entries were counted
and no task sampled; what is not known is spread evenly.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from keyroute.core.counted import rows_of_keys
from keyroute.core.graph import FloatArray
from keyroute.core.plan import Topology
from keyroute.core.sites import Flow, flow, partitions_of, site_rows, spread_of
from keyroute.core.statistics import EdgeStatistics, GroupStatistics, Period, imbalance
from keyroute.core.table import GroupShape, Int32Array, Int64Array, RoutingTables


def locality(
    tables: RoutingTables, periods: Iterable[Period], placed: tuple[int, ...] = ()
) -> float | None:
    """Expected share of the edges' rows whose two keys share an executor; None without such rows.

    Executors are the tables' parts; where they have none, `placed` (n,) is each partition's, and
    where that is empty each partition has one of its own.
    """
    return _local_share(between_partitions(tables, periods), tables.parts or placed)


def locality_by_level(
    tables: RoutingTables,
    periods: Iterable[Period],
    topology: Topology,
    placed: tuple[int, ...] = (),
) -> dict[str, float]:
    """`locality` by the levels "executor", "host" and "zone", as far as the topology knows them."""
    rows = between_partitions(tables, periods)
    most = max((max(cells.shape) for cells in rows), default=0)
    parts = tables.parts or tuple(range(most))
    levels = {"executor": tables.parts or placed}
    for name, of_part in (("host", topology.hosts), ("zone", topology.zones)):
        if of_part and max(parts, default=0) < len(of_part):
            levels[name] = tuple(of_part[part] for part in parts)
    shares = {name: _local_share(rows, places) for name, places in levels.items()}
    return {name: share for name, share in shares.items() if share is not None}


def between_partitions(tables: RoutingTables, periods: Iterable[Period]) -> list[FloatArray]:
    """Expected rows of each edge in each period from partition to partition (n, n')."""
    found = []
    for period in periods:
        shapes = {g.shape.group: g.shape for g in period.groups}
        for edge in period.edges:
            sites = flow(tables, edge, period)
            if sites is not None:
                found.append(_between(tables, edge, shapes, sites))
    return found


def partition_rows(tables: RoutingTables, group: GroupStatistics, period: Period) -> FloatArray:
    """Expected rows of each partition (n,): of its slots and of the entries that name it."""
    table = tables.group(group.shape)
    return site_rows(table, group, period).by_partition(table)


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


def floors(periods: Iterable[Period], alpha: float) -> dict[int, float]:
    """The least imbalance that any table has on a period, of groups where that is above alpha.

    It is that of the heaviest key alone on its partition; of several periods, in the worst.
    """
    worst: dict[int, float] = {}
    for period in periods:
        for group in period.groups:
            _, rows = rows_of_keys(group.shape.group, period)
            least = float(rows.max(initial=0.0)) * group.shape.partitions / max(group.rows, 1)
            worst[group.shape.group] = max(least, worst.get(group.shape.group, 0.0))
    return {group: least for group, least in sorted(worst.items()) if least > alpha}


def _between(
    tables: RoutingTables, edge: EdgeStatistics, shapes: dict[int, GroupShape], sites: Flow
) -> FloatArray:
    up, down = (tables.group(shapes[g]) for g in (edge.upstream_group, edge.downstream_group))
    return sites.between(partitions_of(up), partitions_of(down), (spread_of(up), spread_of(down)))


def _local_share(rows: list[FloatArray], places: tuple[int, ...]) -> float | None:
    total = sum(float(cells.sum()) for cells in rows)
    if not total:
        return None
    local = 0.0
    for cells in rows:
        high, wide = cells.shape
        enough = len(places) >= max(high, wide)
        at: Int32Array = np.array(places if enough else range(max(high, wide)), np.int32)
        local += float(cells[at[:high, None] == at[None, :wide]].sum())
    return local / total
