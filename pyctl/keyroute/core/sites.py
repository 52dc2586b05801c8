"""Sites: the places of a table that decide where a row goes, and how many rows each had.

Sites 0 … S - 1 of a group are its slots, sites S … S + E - 1 its explicit entries. A table is a
partition for each site, so what a table of the same entries would bring needs no key any more.
Slots are counted exactly, keys by sketches that know their slots:

- a slot has its counted rows, less those of keys with an entry whose slot it is;
- an entry has its key's rows (count - error: at least those, or an estimate where tasks sample);
- rows of an entry whose slot is not known are taken from all slots in proportion to their rows.

Where slots are not known (a window in the exchange key, statistics of an older plugin), rows of
keys without an entry are `ANYWHERE`: on each slot with equal chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from keyroute.core.counted import KEPT, keys_of_pairs, rows_of_keys, rows_of_pairs
from keyroute.core.distinct import Positions, distinct, looked_up
from keyroute.core.graph import FloatArray
from keyroute.core.statistics import EdgeStatistics, GroupStatistics, Period
from keyroute.core.table import GroupTable, Int32Array, Int64Array, RoutingTables

ANYWHERE = -1


@dataclass(frozen=True, slots=True, eq=False)
class KeySlots:
    """Slots of a group's counted keys: `fingerprints` ascending, both (K,)."""

    fingerprints: Int64Array
    slots: Int64Array

    def find(self, fingerprints: Int64Array) -> Int64Array:
        """Slot of each fingerprint, `ANYWHERE` where it is not known."""
        return looked_up(self.fingerprints, self.slots, fingerprints, ANYWHERE)


def key_slots(group: int, periods: Iterable[Period]) -> KeySlots:
    """What some periods know of the slots of a group's keys."""
    each = [_slots_of_period(group, period) for period in periods]
    return each[0] if len(each) == 1 else _united(each)


@lru_cache(maxsize=KEPT)
def _slots_of_period(group: int, period: Period) -> KeySlots:
    return _united(
        [
            KeySlots(g.keys.fingerprints, g.keys.slots)
            for g in period.groups
            if g.shape.group == group
            and g.shape.stable_slots
            and len(g.keys.slots) == len(g.keys.fingerprints)
        ]
    )


def _united(known: list[KeySlots]) -> KeySlots:
    prints = np.concatenate([np.empty(0, np.int64), *(k.fingerprints for k in known)])
    slots = np.concatenate([np.empty(0, np.int64), *(k.slots for k in known)])
    keys = distinct(prints)
    own = np.empty_like(keys)
    # Backwards: of a key's slots the first one stays.
    own[Positions(keys)(prints)[::-1]] = slots[::-1]
    return KeySlots(keys, own)


def sites_of(table: GroupTable, slots: KeySlots, fingerprints: Int64Array) -> Int64Array:
    """Site of each key: its entry, else its slot, else `ANYWHERE`."""
    entry = Positions(table.fingerprints)(fingerprints)
    return np.where(entry >= 0, table.shape.slots + entry, slots.find(fingerprints))


def partitions_of(table: GroupTable) -> Int32Array:
    """Partition of each site (S + E,)."""
    return np.concatenate([table.owners(), table.targets])


def spread_of(table: GroupTable) -> FloatArray:
    """Share of the slots that each partition has (n,)."""
    n = table.shape.partitions
    return np.bincount(table.owners(), minlength=n) / table.shape.slots


@dataclass(frozen=True, slots=True, eq=False)
class SiteRows:
    """Rows of each site (S + E,), and those that are anywhere."""

    rows: FloatArray
    anywhere: float = 0.0

    def by_partition(self, table: GroupTable) -> FloatArray:
        """Rows of each partition (n,) under a table of the same entries."""
        n = table.shape.partitions
        placed = np.bincount(partitions_of(table), self.rows, minlength=n)
        loads: FloatArray = placed + self.anywhere * spread_of(table)
        return loads


def site_rows(table: GroupTable, group: GroupStatistics, period: Period) -> SiteRows:
    """Rows of a group's sites in one period, of which `group` is a part."""
    shape = table.shape
    prints, counts = rows_of_keys(shape.group, period)
    slots = key_slots(shape.group, [period])
    sites = sites_of(table, slots, prints)
    explicit = sites >= shape.slots
    rows: FloatArray = np.bincount(
        sites[explicit], counts[explicit], minlength=shape.slots + table.entries
    ).astype(np.float64)
    placed = float(rows.sum())
    if not slots_are_known(group):
        return SiteRows(rows, max(group.rows - placed, 0.0))
    own = slots.find(prints[explicit])
    known = own != ANYWHERE
    taken = np.bincount(own[known], counts[explicit][known], minlength=shape.slots)
    rest = np.maximum(group.slot_rows - taken, 0.0)
    rows[: shape.slots] = _scaled(rest, max(group.rows - placed, 0.0))
    return SiteRows(rows)


def slots_are_known(group: GroupStatistics) -> bool:
    """Whether rows were counted by slots that mean the same later on, and keys know theirs."""
    return (
        group.shape.stable_slots
        and len(group.slot_rows) == group.shape.slots
        and bool(group.slot_rows.any())
        and len(group.keys.slots) == len(group.keys.fingerprints)
    )


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """Rows between sites of two groups: arrays of one length, a cell more than once where need be.

    An end may be `ANYWHERE`.
    """

    upstream: Int64Array
    downstream: Int64Array
    rows: FloatArray

    def between(
        self, upstream: Int32Array, downstream: Int32Array, spreads: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """Rows from each place to each, by the places of the sites and what is anywhere's share."""
        up = _with_anywhere(upstream, len(spreads[0]))
        down = _with_anywhere(downstream, len(spreads[1]))
        high, wide = (len(s) + 1 for s in spreads)
        flat = np.bincount(
            up[self.upstream] * wide + down[self.downstream], self.rows, minlength=high * wide
        )
        full = flat.reshape(high, wide).astype(np.float64)
        known: FloatArray = full[:-1, :-1]
        known = known + np.outer(full[:-1, -1], spreads[1]) + np.outer(spreads[0], full[-1, :-1])
        everywhere: FloatArray = full[-1, -1] * np.outer(*spreads)
        return known + everywhere


def flow(tables: RoutingTables, edge: EdgeStatistics, period: Period) -> Flow | None:
    """Rows of an edge between sites; None where a group of it was not counted.

    The rows between slots are those of keys without entries once the counted pairs of keys
    with entries are taken out, each at the slots of its keys. Such pairs with a slot that is not
    known come from all cells in proportion. Without slot pairs, rows that no counted pair has are
    anywhere at both ends.
    """
    groups = {g.shape.group: g for g in period.groups}
    up, down = groups.get(edge.upstream_group), groups.get(edge.downstream_group)
    if up is None or down is None:
        return None
    ends = [
        (tables.group(g.shape), key_slots(g.shape.group, [period]), *of)
        for g, of in zip((up, down), keys_of_pairs(edge, period), strict=True)
    ]
    a, b = (sites_of(table, slots, keys)[at] for table, slots, keys, at in ends)
    rows = rows_of_pairs(edge)
    if not (len(edge.slot_pairs.rows) and slots_are_known(up) and slots_are_known(down)):
        return _flow(a, b, rows, [ANYWHERE], [ANYWHERE], [max(edge.rows - rows.sum(), 0.0)])
    listed = (a >= up.shape.slots) | (b >= down.shape.slots)
    own = [slots.find(keys)[at[listed]] for _, slots, keys, at in ends]
    rest = _less(edge, own[0], own[1], rows[listed], down.shape.slots)
    rest = _scaled(rest, max(edge.rows - float(rows[listed].sum()), 0.0))
    cells = edge.slot_pairs
    return _flow(a[listed], b[listed], rows[listed], cells.upstream, cells.downstream, rest)


def _less(
    edge: EdgeStatistics, up: Int64Array, down: Int64Array, rows: FloatArray, slots: int
) -> FloatArray:
    """Rows of the slot pairs without those of some pairs, by their slots."""
    cells = edge.slot_pairs.upstream * slots + edge.slot_pairs.downstream
    order = np.argsort(cells, kind="stable")
    known = (up != ANYWHERE) & (down != ANYWHERE)
    wanted = up[known] * slots + down[known]
    at = Positions(cells[order])(wanted)
    hit = at >= 0
    taken = np.bincount(order[at[hit]], rows[known][hit], minlength=len(cells))
    rest: FloatArray = np.maximum(edge.slot_pairs.rows - taken, 0.0)
    return rest


def _scaled(values: FloatArray, total: float) -> FloatArray:
    """The same proportions with another sum."""
    now = float(values.sum())
    return values * (total / now) if now > 0 else values


def _flow(
    a: Int64Array,
    b: Int64Array,
    rows: FloatArray,
    more_a: Int64Array | list[int],
    more_b: Int64Array | list[int],
    more_rows: FloatArray | list[float],
) -> Flow:
    return Flow(
        np.concatenate([a, np.asarray(more_a, np.int64)]),
        np.concatenate([b, np.asarray(more_b, np.int64)]),
        np.concatenate([rows, np.asarray(more_rows, np.float64)]),
    )


def _with_anywhere(places: Int32Array, count: int) -> NDArray[np.int64]:
    """Places of sites, and after them the place after all: what `ANYWHERE` (-1) finds."""
    return np.append(places.astype(np.int64), count)
