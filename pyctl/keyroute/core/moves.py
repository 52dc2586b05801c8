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
    for period in periods:
        for group in period.groups:
            before, after = older.group(group.shape), newer.group(group.shape)
            rows += _rows(before, after, group, period)
            total += group.rows
    keys = 0
    for shape in {g.shape.group: g.shape for p in periods for g in p.groups}.values():
        keys += _keys(older.group(shape), newer.group(shape), periods)
    return Moved(rows / total if total else 0.0, keys)


def _rows(before: GroupTable, after: GroupTable, group: GroupStatistics, period: Period) -> float:
    prints, counts = rows_of_keys(group.shape.group, period)
    slots = key_slots(group.shape.group, [period]).find(prints)
    chance = _chance(before, after, prints, slots)
    # Keys without an entry and without a known slot are among the rest.
    counted = ~np.isnan(chance)
    own = slots[counted]
    in_slots = np.bincount(
        own[own != ANYWHERE], counts[counted][own != ANYWHERE], minlength=group.shape.slots
    )
    changed = before.owners() != after.owners()
    left = max(group.rows - float(counts[counted].sum()), 0.0)
    if slots_are_known(group):
        rest = np.maximum(group.slot_rows - in_slots, 0.0)
        share = float(rest[changed].sum()) / max(float(rest.sum()), 1e-300)
    else:
        share = float(changed.mean())
    return float((counts * chance)[counted].sum()) + left * share


def _keys(before: GroupTable, after: GroupTable, periods: tuple[Period, ...]) -> int:
    counted = distinct(
        np.concatenate(
            [np.empty(0, np.int64), *(rows_of_keys(before.shape.group, p)[0] for p in periods)]
        )
    )
    slots = key_slots(before.shape.group, periods).find(counted)
    chance = _chance(before, after, counted, slots)
    listed = distinct(np.concatenate([before.fingerprints, after.fingerprints]))
    others = listed[Positions(counted)(listed) < 0]
    entries = before.explicit(others) != after.explicit(others)
    return int((chance > 0).sum()) + int(entries.sum())


def _chance(
    before: GroupTable, after: GroupTable, prints: Int64Array, slots: Int64Array
) -> FloatArray:
    """Chance that each key moves (K,); NaN where neither its slot nor an entry is known."""
    old, new = _partition(before, prints, slots), _partition(after, prints, slots)
    n = before.shape.partitions
    one = np.where((old < 0) != (new < 0), 1.0 - 1.0 / n, old != new)
    chance: FloatArray = np.where((old < 0) & (new < 0), np.nan, one)
    return chance


def _partition(table: GroupTable, prints: Int64Array, slots: Int64Array) -> Int32Array:
    explicit = table.explicit(prints)
    by_slot = np.where(slots == ANYWHERE, -1, table.owners()[slots])
    return np.where(explicit >= 0, explicit, by_slot).astype(np.int32)
