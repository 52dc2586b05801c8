"""From the tables that a planner wants to its answer: what they bring, move and cannot better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from keyroute.core import score
from keyroute.core.moves import moved
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupTable, RoutingTables
from keyroute.planners import leaving
from keyroute.planners.parts import arrange, on_hosts


def answer(
    request: PlanRequest, groups: Iterable[GroupTable], parts: tuple[int, ...], why: str
) -> Plan:
    """A plan of these tables, which names the floors of keys that are too hot for the bound.

    Its figures are of the newest period. `why` is a sentence for people, without a full stop.
    """
    newest = request.periods[-1:]
    ordered = tuple(sorted(groups, key=lambda g: g.shape.group))
    tables = RoutingTables(0, request.query_id, ordered, parts)
    change = moved(request.current, tables, newest)
    floors = score.floors(newest, request.settings.alpha)
    levels = score.locality_by_level(tables, newest, request.topology, request.placed)
    return Plan(
        groups=ordered,
        parts=parts,
        predicted_locality=levels.get("executor"),
        predicted_imbalance=score.expected_imbalance(tables, newest),
        moved_weight=change.weight,
        moved_keys=change.keys,
        why=why + leaving.told(request, ordered) + _floors(floors) + _too_many(request),
        locality_by_level=levels,
        floors=floors,
    )


def parts_of(request: PlanRequest, groups: Iterable[GroupTable]) -> tuple[int, ...]:
    """Part of each partition for some tables; empty where each partition is a part of its own.

    Parts need one number of partitions in all groups. While some shall be emptied, all stay as they
    are: a partition that comes to such a part would fill it again.
    """
    if request.leaving:
        return request.current.parts
    tables = tuple(sorted(groups, key=lambda g: g.shape.group))
    counts = {g.shape.partitions for g in tables}
    if len(counts) != 1:
        return ()
    n = counts.pop()
    if not (0 < request.executors < n or request.topology.hosts or request.topology.zones):
        return ()
    wanted = RoutingTables(0, request.query_id, tables)
    between = np.zeros((n, n))
    for rows in score.between_partitions(wanted, request.periods[-1:]):
        between += rows
    total = float(between.sum())
    between += between.T
    np.fill_diagonal(between, 0.0)
    in_force = request.current.parts
    parts = arrange(between, total, request.executors, in_force)
    # Without a wish for fewer executors each partition is a part, by the name that it has.
    named = in_force if not parts and sorted(in_force) == list(range(n)) else parts
    return on_hosts(between, total, named, request.topology)


def _floors(floors: Mapping[int, float]) -> str:
    return "".join(
        f"; group {group} stays at an imbalance of at least {least:.2f}, "
        "because one key has so many rows"
        for group, least in floors.items()
    )


def _too_many(request: PlanRequest) -> str:
    n = max((shape.partitions for shape in request.shapes), default=0)
    if not 0 < n < request.executors:
        return ""
    return f"; {request.executors} executors are meant, but there are only {n} partitions for them"
