"""Statistics of made operators, whose keys are columns of codes: any number of them, any shape."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, Planner, PlanRequest, PlanSettings
from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
    SlotPairs,
)
from keyroute.core.table import GroupShape, GroupTable, Int32Array, Int64Array, RoutingTables
from keyroute.simulate.stream import KeyColumn, column

QUERY = "papers"


@dataclass(frozen=True, eq=False)
class Operators:
    """Consecutive operators: their distinct keys, of which `codes` (N,) are the rows, and shapes.

    The codes of `keys` themselves are not looked at, so one hashing of keys serves many streams.
    """

    keys: tuple[KeyColumn, ...]
    codes: tuple[Int64Array, ...]
    shapes: tuple[GroupShape, ...]

    def partitions(self, tables: RoutingTables, start: int, stop: int) -> list[Int32Array]:
        """Partition of each of some rows, for each operator."""
        return [
            tables.group(shape).route(*key.hashes)[codes[start:stop]]
            for key, codes, shape in zip(self.keys, self.codes, self.shapes, strict=True)
        ]

    def loads(self, tables: RoutingTables, start: int, stop: int) -> list[FloatArray]:
        """Rows of each partition (n,), for each operator."""
        return [
            np.bincount(at, minlength=shape.partitions).astype(np.float64)
            for at, shape in zip(self.partitions(tables, start, stop), self.shapes, strict=True)
        ]

    def period(self, number: int, tables: RoutingTables, start: int, stop: int) -> Period:
        """Exact statistics of some rows, which went by some tables."""
        at = self.partitions(tables, start, stop)
        return Period(
            first_batch=number,
            last_batch=number,
            table_version=tables.version,
            rows=stop - start,
            groups=tuple(self._group(i, at[i], start, stop) for i in range(len(self.keys))),
            edges=tuple(
                self._edge(up, down, at, start, stop)
                for up, down in itertools.pairwise(range(len(self.keys)))
            ),
        )

    def plan(
        self,
        planner: Planner,
        periods: Sequence[Period],
        current: RoutingTables,
        settings: PlanSettings,
    ) -> tuple[Plan, RoutingTables]:
        """What a planner answers, and that as the next version."""
        request = PlanRequest(QUERY, self.shapes, tuple(periods), current, settings=settings)
        plan = planner(request)
        return plan, plan.tables(current.version + 1, QUERY)

    def _group(self, index: int, at: Int32Array, start: int, stop: int) -> GroupStatistics:
        key, shape = self.keys[index], self.shapes[index]
        rows = np.bincount(self.codes[index][start:stop], minlength=len(key.values))
        seen = np.flatnonzero(rows)
        order = seen[np.argsort(-rows[seen], kind="stable")]
        slots = self._slots(index)
        return GroupStatistics(
            shape=shape,
            rows=stop - start,
            slot_rows=np.bincount(slots, rows, shape.slots).astype(np.int64),
            partition_rows=np.bincount(at, minlength=shape.partitions).astype(np.int64),
            explicit_rows=0,
            keys=KeyCounts(
                stop - start,
                key.hashes[1][order],
                rows[order].astype(np.int64),
                np.zeros(len(order), np.int64),
                slots=slots[order],
            ),
        )

    def _edge(
        self, up: int, down: int, at: list[Int32Array], start: int, stop: int
    ) -> EdgeStatistics:
        size = len(self.keys[down].values)
        pairs, rows = np.unique(
            self.codes[up][start:stop] * size + self.codes[down][start:stop],
            return_counts=True,
        )
        above, below = pairs // size, pairs % size
        slots = self.shapes[down].slots
        cells, cell = np.unique(
            self._slots(up)[above] * slots + self._slots(down)[below], return_inverse=True
        )
        return EdgeStatistics(
            upstream_group=up,
            downstream_group=down,
            rows=stop - start,
            local_rows=int((at[up] == at[down]).sum()),
            pairs=PairCounts(
                stop - start,
                self.keys[up].hashes[1][above],
                self.keys[down].hashes[1][below],
                rows.astype(np.int64),
                np.zeros(len(pairs), np.int64),
            ),
            slot_pairs=SlotPairs(
                cells // slots, cells % slots, np.bincount(cell, rows).astype(np.int64)
            ),
        )

    def _slots(self, index: int) -> Int64Array:
        return np.mod(self.keys[index].hashes[0].astype(np.int64), self.shapes[index].slots)


def numbers(name: str, codes: Int64Array) -> KeyColumn:
    """A column of whole numbers from 0 on, as keys of type BIGINT."""
    values, codes = np.unique(codes, return_inverse=True)
    return column(name, "bigint", values.tolist(), codes)


def one_operator(codes: Int64Array, partitions: int, slots: int = 0) -> Operators:
    """A single operator by such a column; `slots` 0 is the usual number."""
    key = numbers("key", codes)
    shape = key.shape(0, partitions)
    return Operators((key,), (key.codes,), (replace(shape, slots=slots or shape.slots),))


def rolled(shape: GroupShape, by: int) -> GroupTable:
    """A table that moves all slots of partition i to partition i + `by`."""
    owners = (np.arange(shape.slots) + by) % shape.partitions
    none = np.empty(0, np.int64)
    return GroupTable(shape, none, none.astype(np.int32), owners.astype(np.int32))
