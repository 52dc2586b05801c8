"""From the tables that a planner wants to its answer: what they bring, move and cannot better."""

from __future__ import annotations

from collections.abc import Iterable

from keyroute.core import score
from keyroute.core.moves import moved
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupTable, RoutingTables


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
    return Plan(
        groups=ordered,
        parts=parts,
        predicted_locality=score.locality(tables, newest, request.placed) or 0.0,
        predicted_imbalance=score.expected_imbalance(tables, newest),
        moved_weight=change.weight,
        moved_keys=change.keys,
        why=why + "".join(_floor(group, least) for group, least in floors.items()),
        locality_by_level=score.locality_by_level(tables, newest, request.topology, request.placed),
        floors=floors,
    )


def _floor(group: int, least: float) -> str:
    return (
        f"; group {group} stays at an imbalance of at least {least:.2f}, "
        "because one key has so many rows"
    )
