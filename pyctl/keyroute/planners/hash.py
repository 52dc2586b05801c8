"""The planner that undoes everything: empty tables, Spark's own routing."""

from __future__ import annotations

from keyroute.core import score
from keyroute.core.graph import rows_of_keys
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, empty


def plan_hash(request: PlanRequest) -> Plan:
    """The empty table for every group. Keys with an entry now are what may move."""
    newest = request.periods[-1:]
    nothing = RoutingTables(0, request.query_id)
    return Plan(
        groups=tuple(empty(shape) for shape in sorted(request.shapes, key=lambda s: s.group)),
        parts=(),
        predicted_locality=score.locality(nothing, newest, request.placed) or 0.0,
        predicted_imbalance=score.expected_imbalance(nothing, newest),
        moved_weight=sum(_leaving(request.current, period) for period in newest),
        moved_keys=request.current.entries,
        why="hash: every key goes where Spark would send it",
    )


def _leaving(current: RoutingTables, period: Period) -> float:
    """Share of a period's rows whose key has an entry that hash disagrees with, on average."""
    leaving, total = 0.0, 0.0
    for group in period.groups:
        fingerprints, rows = rows_of_keys(group.shape.group, period)
        explicit = current.group(group.shape).explicit(fingerprints) >= 0
        leaving += float(rows[explicit].sum()) * (1 - 1 / group.shape.partitions)
        total += group.rows
    return leaving / total if total else 0.0
