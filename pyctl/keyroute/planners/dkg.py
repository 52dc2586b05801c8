"""Distribution-aware key grouping: heavy keys one by one, all others by slots, greedily.

Rivetti et al., *Efficient Key Grouping for Near-Optimal Load Balancing in Stream Processing
Systems*, DEBS 2015. Keys of at least a share theta of the rows get an entry each; the slots are the
paper's k·mu buckets; LPT schedules both. What departs: rows are decayed over periods, and an item
stays where it is while its partition stays within the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from keyroute.core.counted import rows_of_keys
from keyroute.core.graph import FloatArray
from keyroute.core.plan import CannotPlan, Plan, PlanRequest, only_options, option, whole_option
from keyroute.core.sites import key_slots, spread_of
from keyroute.core.table import GroupShape, GroupTable, Int32Array, Int64Array
from keyroute.planners.answer import answer, parts_of
from keyroute.planners.leaving import leaving_partitions
from keyroute.planners.relabel import relabel
from keyroute.planners.scheduling import even_out, level, loads_of, longest_first, stay_below
from keyroute.planners.slot_groups import decay, weighted_rows

THETA = 0.01
"""Share of a group's rows from which on a key is heavy."""

MU = 1_000_000
"""Buckets for each partition: more than any group has slots."""


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """What is scheduled: buckets (none where slots stay), then heavy keys."""

    bucket: Int64Array
    fingerprints: Int64Array
    sizes: FloatArray
    base: FloatArray
    home: Int32Array


def plan_dkg(request: PlanRequest) -> Plan:
    """Plans each group by itself. Raises `CannotPlan`."""
    settings = request.settings
    only_options(settings, "dkg", "theta", "mu")
    theta = option(settings, "theta", THETA, 1e-6, 1.0)
    mu = whole_option(settings, "mu", MU, 1, MU)
    tables, told = [], []
    for shape in sorted(request.shapes, key=lambda s: s.group):
        items = _items(request, shape, theta, mu)
        if items is None:
            tables.append(request.current.group(shape))
            continue
        staying = np.flatnonzero(~leaving_partitions(request, shape.partitions))
        at = _schedule(_among(items, staying), min(theta, settings.alpha - 1))
        tables.append(_table(request.current.group(shape), items, staying[at].astype(np.int32)))
        told.append(_told(shape, items))
    if not told:
        raise CannotPlan("there is no group with counted rows")
    why = f"dkg: keys of at least {theta:.1%} of the rows one by one, the others by slots"
    return answer(request, tables, parts_of(request, tables), why + "".join(told))


def _items(request: PlanRequest, shape: GroupShape, theta: float, mu: int) -> _Items | None:
    """None where nothing was counted."""
    weights = decay(request.periods, request.settings.load_half_life)
    heavy = _heavy(request, shape, weights, theta)
    draft = GroupTable(shape, heavy, np.zeros(len(heavy), np.int32))
    counted = weighted_rows(draft, request.periods, weights)
    if not counted.rows.any() and not counted.anywhere:
        return None
    in_force, n = request.current.group(shape), shape.partitions
    slots = key_slots(shape.group, request.periods).find(heavy)
    explicit = in_force.explicit(heavy)
    by_slot = np.where(slots >= 0, in_force.owners()[slots], -1)
    home = np.where(explicit >= 0, explicit, by_slot).astype(np.int32)
    in_slots = counted.rows[: shape.slots]
    base = counted.anywhere * spread_of(in_force)
    bucket = np.empty(0, np.int64)
    if in_slots.any():
        bucket = np.arange(shape.slots) % min(shape.slots, mu * n)
    buckets = int(bucket.max(initial=-1)) + 1
    return _Items(
        bucket,
        heavy,
        np.concatenate([np.bincount(bucket, in_slots, buckets), counted.rows[shape.slots :]])
        if buckets
        else counted.rows[shape.slots :],
        base,
        np.concatenate([_owners(bucket, buckets, in_force), home]),
    )


def _heavy(
    request: PlanRequest, shape: GroupShape, weights: list[float], theta: float
) -> Int64Array:
    """Fingerprints of a group's heavy keys, ascending."""
    if not shape.routing_ordinals:
        return np.empty(0, np.int64)
    counted = [rows_of_keys(shape.group, p) for p in request.periods]
    prints = np.concatenate([np.empty(0, np.int64), *(f for f, _ in counted)])
    rows = np.concatenate(
        [np.empty(0), *(r * w for (_, r), w in zip(counted, weights, strict=True))]
    )
    total = sum(
        w * g.rows
        for p, w in zip(request.periods, weights, strict=True)
        for g in p.groups
        if g.shape.group == shape.group
    )
    prints, inverse = np.unique(prints, return_inverse=True)
    return prints[np.bincount(inverse, rows, len(prints)) >= theta * max(total, 1e-300)]


def _owners(bucket: Int64Array, buckets: int, in_force: GroupTable) -> Int32Array:
    """The owner of each bucket's first slot: buckets that dkg made have only one."""
    first = np.zeros(buckets, np.int32)
    first[bucket[::-1]] = in_force.owners()[: len(bucket)][::-1]
    return first


def _among(items: _Items, staying: Int64Array) -> _Items:
    """The items as if the staying partitions, numbered anew, were all there are."""
    number = np.full(len(items.base), -1, np.int32)
    number[staying] = np.arange(len(staying))
    home = np.where(items.home >= 0, number[items.home], -1).astype(np.int32)
    return replace(items, base=items.base[staying], home=home)


def _schedule(items: _Items, slack: float) -> Int32Array:
    """LPT, or what stays nearer to the tables in force and is as good or within the bound."""
    fresh = longest_first(items.sizes, items.base)
    best = level(items.sizes, items.base)
    enough = max(best.mean * (1 + slack), _worst(items, fresh, best.hot)) * (1 + 1e-9)
    near = stay_below(items.sizes, items.base, items.home, best, slack)
    near = even_out(items.sizes, items.base, near, best, enough)
    if _worst(items, near, best.hot) <= enough:
        return near
    return relabel(fresh, items.home, items.sizes, np.ones(len(items.base), np.int64))


def _worst(items: _Items, at: Int32Array, hot: Int64Array) -> float:
    """The highest load of a partition without a hot item."""
    loads = loads_of(items.sizes, items.base, at)
    loads[at[hot]] = 0.0
    return float(loads.max())


def _table(in_force: GroupTable, items: _Items, at: Int32Array) -> GroupTable:
    """The group's table: slots without buckets stay with the owners that they have."""
    buckets = len(at) - len(items.fingerprints)
    owners = at[:buckets][items.bucket] if buckets else in_force.slot_owners
    return GroupTable(in_force.shape, items.fingerprints, at[buckets:], owners)


def _told(shape: GroupShape, items: _Items) -> str:
    heavy = len(items.fingerprints)
    if len(items.bucket):
        return f"; group {shape.group}: {heavy} heavy"
    reason = "were not counted" if shape.stable_slots else "stay, for its key holds a window"
    return f"; group {shape.group}: {heavy} heavy alone, its slots {reason}"
