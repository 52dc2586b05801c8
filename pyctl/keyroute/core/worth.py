"""What a change costs and saves, in one currency: rows sent to another executor. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from keyroute.core.counted import rows_of_keys
from keyroute.core.moves import moved
from keyroute.core.statistics import GroupStatistics, Period
from keyroute.core.table import GroupShape, Int64Array, RoutingTables

_WELL_COVERED = 0.9
"""Share of a group's rows from which on its counted keys stand for all of its keys."""


def rows_to_move(older: RoutingTables, newer: RoutingTables, periods: Sequence[Period]) -> int:
    """State rows that a change of tables moves, estimated.

    Where the sketches hold nearly all rows of a group, each of its keys has an equal share of the
    state that was counted; else a key has one row, and a moved slot its state. Without counts of
    the state a key has one row. A partition that another part takes over is read anew there, all of
    its state.
    """
    shapes = {g.shape.group: g.shape for p in periods for g in p.groups}
    return round(
        sum(
            _of_group(older, newer, shape, periods) + _taken_over(older, newer, shape, periods)
            for shape in shapes.values()
        )
    )


def saved_rows(share: float, rows: int, of_rows: int, horizon_rows: float) -> float:
    """How many rows a `share` of some is over a horizon of input rows, where `of_rows` such were
    counted in `rows` of input: of those between operators, that stay on their executor; of an
    operator's, that no longer queue at its fullest partition."""
    return share * horizon_rows * of_rows / rows if rows else 0.0


def _of_group(
    older: RoutingTables, newer: RoutingTables, shape: GroupShape, periods: Sequence[Period]
) -> float:
    alone = [
        replace(p, groups=tuple(g for g in p.groups if g.shape.group == shape.group))
        for p in periods
    ]
    counted = [(g, p) for p in alone for g in p.groups]
    if not counted:
        return 0.0
    keys = moved(older, newer, alone).keys
    state = _state(g for g, _ in reversed(counted))
    if not state.any():
        return keys
    if _covered(*counted[-1]) >= _WELL_COVERED:
        prints = [rows_of_keys(shape.group, p)[0] for p in alone]
        known = np.unique(np.concatenate([*prints, older.group(shape).fingerprints]))
        return keys * max(1.0, float(state.sum()) / max(len(known), 1))
    before, after = older.group(shape).owners(), newer.group(shape).owners()
    return max(keys, float(state[before != after].sum()))


def _taken_over(
    older: RoutingTables, newer: RoutingTables, shape: GroupShape, periods: Sequence[Period]
) -> float:
    """State in slots that stay with their partition where that goes to another part."""
    own = np.arange(shape.partitions)
    changed = np.array(older.parts or own) != np.array(newer.parts or own)
    state = _state(g for p in reversed(periods) for g in p.groups if g.shape.group == shape.group)
    if not changed.any() or not state.any():
        return 0.0
    before, after = older.group(shape).owners(), newer.group(shape).owners()
    return float(state[(before == after) & changed[after]].sum())


def _state(newest_first: Iterable[GroupStatistics]) -> Int64Array:
    """Rows of state in each slot, as counted last; empty where they never were."""
    known = (g.slot_state_rows for g in newest_first if len(g.slot_state_rows))
    return next(known, np.zeros(0, np.int64))


def _covered(group: GroupStatistics, period: Period) -> float:
    _, rows = rows_of_keys(group.shape.group, period)
    return float(rows.sum()) / group.rows if group.rows else 0.0
