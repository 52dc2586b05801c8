"""Planners that give a key its place when they first see it, and never move it again.

What a period counted is all that a planner sees, so keys that are new in one period arrive in the
order of their fingerprints, which is as good as at random, and bring all their rows at once. In
`baselines.messages` they arrive message by message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from keyroute.core.counted import rows_of_keys
from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupShape, GroupTable, Int32Array, Int64Array
from keyroute.planners.answer import answer
from keyroute.planners.slot_groups import weighted_rows

Choose = Callable[[int, FloatArray, int], int]
"""Partition of a key, by its fingerprint, the loads (n,) so far, and how many keys have a place."""


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Keys of a group: `fingerprints` ascend, `rows` over all periods, `first` period each (K,).

    `base` (n,) are rows of keys that were not counted, by their slots.
    """

    fingerprints: Int64Array
    rows: FloatArray
    first: Int64Array
    base: FloatArray


def keys_of(request: PlanRequest, shape: GroupShape) -> Keys:
    """All keys of a group that any period counted, and those that have entries."""
    in_force = request.current.group(shape)
    seen = [rows_of_keys(shape.group, p)[0] for p in request.periods]
    prints = np.concatenate([in_force.fingerprints, *seen])
    first = np.repeat(np.arange(-1, len(seen)), [in_force.entries, *map(len, seen)])
    # unique keeps the first of equal ones, and periods are in order.
    prints, at = np.unique(prints, return_index=True)
    draft = GroupTable(shape, prints, np.zeros(len(prints), np.int32))
    counted = weighted_rows(draft, request.periods, [1.0] * len(request.periods))
    n = shape.partitions
    base: FloatArray = np.bincount(draft.owners(), counted.rows[: shape.slots], n).astype(float)
    base += counted.anywhere / n
    return Keys(prints, counted.rows[shape.slots :], first[at], base)


def plan_by_first_sight(request: PlanRequest, choose: Choose, why: str) -> Plan:
    """Entries in force stay; each new key goes where `choose` says."""
    tables = (_table(request, shape, choose) for shape in request.shapes)
    return answer(request, tables, (), why)


def _table(request: PlanRequest, shape: GroupShape, choose: Choose) -> GroupTable:
    keys = keys_of(request, shape)
    at: Int32Array = request.current.group(shape).explicit(keys.fingerprints)
    placed = at >= 0
    loads = keys.base + np.bincount(at[placed], keys.rows[placed], shape.partitions)
    new = np.flatnonzero(~placed)
    count = int(placed.sum())
    for key in new[np.argsort(keys.first[new], kind="stable")]:
        at[key] = choose(int(keys.fingerprints[key]), loads, count)
        loads[at[key]] += keys.rows[key]
        count += 1
    return GroupTable(shape, keys.fingerprints, at)
