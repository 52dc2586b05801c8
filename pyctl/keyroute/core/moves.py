"""What a change of tables moves: rows whose key changes its partition, and such keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from keyroute.core.counted import rows_of_keys
from keyroute.core.distinct import Positions, distinct
from keyroute.core.graph import FloatArray
from keyroute.core.sites import ANYWHERE, key_slots, slots_are_known
from keyroute.core.statistics import GroupStatistics, Period
from keyroute.core.table import GroupTable, Int32Array, Int64Array, RoutingTables


@dataclass(frozen=True, slots=True)
class Moved:
    """`weight` is the share of all counted rows; `keys` are counted keys, and entries of others."""

    weight: float
    keys: int


def moved(older: RoutingTables, newer: RoutingTables, periods: Iterable[Period]) -> Moved:
    """What changes its partition from one version to another, on the rows of some periods.

    A key whose slot is not known and that has an entry in only one of the two moves with chance
    1 - 1/n. Rows of keys that were not counted are those of their slots.
    """
    rows, total = 0.0, 0.0
    periods = tuple(periods)
    shapes = {g.shape.group: g.shape for p in periods for g in p.groups}
    of_all = {i: _counted(older.group(s), newer.group(s), periods) for i, s in shapes.items()}
    for period in periods:
        for group in period.groups:
            before, after = older.group(group.shape), newer.group(group.shape)
            keys = of_all[group.shape.group]
            own = keys if len(periods) == 1 else _counted(before, after, (period,))
            rows += _rows(before, after, group, period, own)
            total += group.rows
    moving = sum(
        int((keys.chance > 0).sum()) + _entries(older.group(shape), newer.group(shape), keys)
        for shape, keys in zip(shapes.values(), of_all.values(), strict=True)
    )
    return Moved(rows / total if total else 0.0, moving)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """A group's counted keys, their slots, and the chance that each moves: (K,).

    The chance is NaN where neither a key's slot nor an entry of it is known.
    """

    fingerprints: Int64Array
    slots: Int64Array
    chance: FloatArray


def _counted(before: GroupTable, after: GroupTable, periods: tuple[Period, ...]) -> _Counted:
    group = before.shape.group
    each = [rows_of_keys(group, period)[0] for period in periods]
    prints = each[0] if len(each) == 1 else distinct(np.concatenate(each))
    slots = key_slots(group, periods).find(prints)
    old, new = _partition(before, prints, slots), _partition(after, prints, slots)
    n = before.shape.partitions
    one = np.where((old < 0) != (new < 0), 1.0 - 1.0 / n, old != new)
    return _Counted(prints, slots, np.where((old < 0) & (new < 0), np.nan, one))


def _rows(
    before: GroupTable, after: GroupTable, group: GroupStatistics, period: Period, keys: _Counted
) -> float:
    """Rows of a group that move in one period, whose keys these are."""
    _, counts = rows_of_keys(group.shape.group, period)
    # Keys without an entry and without a known slot are among the rest.
    known = ~np.isnan(keys.chance)
    own = keys.slots[known]
    in_slots = np.bincount(
        own[own != ANYWHERE], counts[known][own != ANYWHERE], minlength=group.shape.slots
    )
    changed = before.owners() != after.owners()
    left = max(group.rows - float(counts[known].sum()), 0.0)
    if slots_are_known(group):
        rest = np.maximum(group.slot_rows - in_slots, 0.0)
        share = float(rest[changed].sum()) / max(float(rest.sum()), 1e-300)
    else:
        share = float(changed.mean())
    return float((counts * keys.chance)[known].sum()) + left * share


def _entries(before: GroupTable, after: GroupTable, keys: _Counted) -> int:
    """How many keys that were not counted have another entry, or one in only one of the two."""
    listed = np.concatenate([before.fingerprints, after.fingerprints])
    others = distinct(listed[Positions(keys.fingerprints)(listed) < 0])
    return int((before.explicit(others) != after.explicit(others)).sum())


def _partition(table: GroupTable, prints: Int64Array, slots: Int64Array) -> Int32Array:
    explicit = table.explicit(prints)
    by_slot = np.where(slots == ANYWHERE, -1, table.owners()[slots])
    return np.where(explicit >= 0, explicit, by_slot).astype(np.int32)
