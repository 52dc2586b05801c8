"""Statistics of a period, as executors would count them with room for every key and pair.

Every row is counted, where executors sample tasks of more than 4,096.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows that went by one version of the tables."""

    cut: Cut
    tables: RoutingTables


def targets(cut: Cut, shapes: tuple[GroupShape, ...], tables: RoutingTables) -> list[Int32Array]:
    """Partition of each distinct value of each column, by the tables."""
    return [
        tables.group(shape).route(*column.hashes)
        for column, shape in zip(cut.stream.columns, shapes, strict=True)
    ]


def executor_of(tables: RoutingTables, partitions: int, executors: int) -> Int32Array:
    """Executor of each partition (n,): its part's, or else in turn; 0 `executors`: each its own."""
    in_turn = np.arange(partitions, dtype=np.int32) % (executors or partitions)
    return np.array(tables.parts, np.int32) if tables.parts else in_turn


def count(
    number: int, segments: Sequence[Segment], shapes: tuple[GroupShape, ...], executors: int = 0
) -> Period:
    """The statistics of period `number`, whose rows are those of consecutive segments."""
    cut = Cut(segments[0].cut.stream, segments[0].cut.start, segments[-1].cut.stop)
    tables = segments[-1].tables
    went = went_where(segments, shapes, executors)
    return Period(
        first_batch=number,
        last_batch=number,
        table_version=tables.version,
        rows=int(cut.weights.sum()),
        groups=tuple(
            _group(cut, i, shape, tables, went.partition_rows[i]) for i, shape in enumerate(shapes)
        ),
        edges=tuple(
            _edge(cut, up, down, shapes, local)
            for (up, down), local in zip(edges(len(shapes)), went.local_rows, strict=True)
        ),
    )


@dataclass(frozen=True, eq=False)
class Went:
    """Where rows went: those of each operator's partitions (n,), and the local ones of each edge"""

    partition_rows: tuple[Int64Array, ...]
    local_rows: tuple[int, ...]


def went_where(
    segments: Sequence[Segment], shapes: tuple[GroupShape, ...], executors: int = 0
) -> Went:
    """Each row by the table in force when it arrived."""
    partition_rows = [np.zeros(s.partitions, np.int64) for s in shapes]
    local_rows = [0] * (len(shapes) - 1)
    for segment in segments:
        cut = segment.cut
        where = targets(cut, shapes, segment.tables)
        rows = [w[cut.codes(i)] for i, w in enumerate(where)]
        for i, to in enumerate(rows):
            partition_rows[i] += _sums(to.astype(np.int64), cut.weights, shapes[i].partitions)
        at = executor_of(segment.tables, shapes[0].partitions, executors)
        for i, (up, down) in enumerate(edges(len(shapes))):
            local_rows[i] += int(cut.weights[at[rows[up]] == at[rows[down]]].sum())
    return Went(tuple(partition_rows), tuple(local_rows))


def _group(
    cut: Cut, index: int, shape: GroupShape, tables: RoutingTables, went: Int64Array
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
        partition_rows=went,
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
    cut: Cut, up: int, down: int, shapes: tuple[GroupShape, ...], local_rows: int
) -> EdgeStatistics:
    above, below = cut.codes(up), cut.codes(down)
    size = len(cut.stream.columns[down].values)
    pairs, inverse = np.unique(above * size + below, return_inverse=True)
    rows = _sums(inverse, cut.weights, len(pairs))
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
        local_rows=local_rows,
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
