"""Statistics of a period, as executors would count them with room for every key and pair."""

from __future__ import annotations

import numpy as np

from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
    SlotPairs,
)
from keyroute.core.table import GroupShape, Int32Array, Int64Array, RoutingTables
from keyroute.simulate.stream import Cut, edges


def targets(cut: Cut, shapes: tuple[GroupShape, ...], tables: RoutingTables) -> list[Int32Array]:
    """Partition of each distinct value of each column, by the tables."""
    return [
        tables.group(shape).route(*column.hashes)
        for column, shape in zip(cut.stream.columns, shapes, strict=True)
    ]


def count(number: int, cut: Cut, shapes: tuple[GroupShape, ...], tables: RoutingTables) -> Period:
    """The statistics of period `number`, which ran under some tables."""
    where = targets(cut, shapes, tables)
    groups = tuple(_group(cut, i, shape, tables, where[i]) for i, shape in enumerate(shapes))
    return Period(
        first_batch=number,
        last_batch=number,
        table_version=tables.version,
        rows=int(cut.weights.sum()),
        groups=groups,
        edges=tuple(_edge(cut, up, down, shapes, where) for up, down in edges(len(shapes))),
    )


def _group(
    cut: Cut, index: int, shape: GroupShape, tables: RoutingTables, where: Int32Array
) -> GroupStatistics:
    fingerprints = cut.stream.columns[index].hashes[1]
    rows = cut.rows_of_values(index).astype(np.int64)
    seen = np.flatnonzero(rows)
    order = seen[np.argsort(-rows[seen], kind="stable")]
    slots = _slots(cut, index, shape)
    explicit = tables.group(shape).explicit(fingerprints) >= 0
    return GroupStatistics(
        shape=shape,
        rows=int(rows.sum()),
        slot_rows=_sums(slots, rows, shape.slots),
        partition_rows=_sums(where.astype(np.int64), rows, shape.partitions),
        explicit_rows=int(rows[explicit].sum()),
        keys=KeyCounts(
            int(rows.sum()),
            fingerprints[order],
            rows[order],
            np.zeros(len(order), np.int64),
            slots=slots[order],
        ),
    )


def _slots(cut: Cut, index: int, shape: GroupShape) -> Int64Array:
    """Slot of each distinct value of a column."""
    return np.mod(cut.stream.columns[index].hashes[0].astype(np.int64), shape.slots)


def _edge(
    cut: Cut, up: int, down: int, shapes: tuple[GroupShape, ...], where: list[Int32Array]
) -> EdgeStatistics:
    above, below = cut.codes(up), cut.codes(down)
    size = len(cut.stream.columns[down].values)
    pairs, inverse = np.unique(above * size + below, return_inverse=True)
    rows = _sums(inverse, cut.weights, len(pairs))
    local = where[up][above] == where[down][below]
    total = int(cut.weights.sum())
    slots = shapes[down].slots
    cells = _slots(cut, up, shapes[up])[pairs // size] * slots
    cells, cell = np.unique(
        cells + _slots(cut, down, shapes[down])[pairs % size], return_inverse=True
    )
    return EdgeStatistics(
        upstream_group=up,
        downstream_group=down,
        rows=total,
        local_rows=int(cut.weights[local].sum()),
        pairs=PairCounts(
            total,
            cut.stream.columns[up].hashes[1][pairs // size],
            cut.stream.columns[down].hashes[1][pairs % size],
            rows,
            np.zeros(len(pairs), np.int64),
        ),
        slot_pairs=SlotPairs(cells // slots, cells % slots, _sums(cell, rows, len(cells))),
    )


def _sums(cells: Int64Array, rows: Int64Array, count: int) -> Int64Array:
    return np.rint(np.bincount(cells, rows, count)).astype(np.int64)
