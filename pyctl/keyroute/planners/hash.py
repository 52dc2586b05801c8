"""The planner that undoes everything: empty tables, Spark's own routing."""

from __future__ import annotations

from keyroute.core.plan import Plan, PlanRequest, only_options
from keyroute.core.table import empty
from keyroute.planners.answer import answer


def plan_hash(request: PlanRequest) -> Plan:
    """The empty table for every group. Keys with an entry now are what may move."""
    only_options(request.settings, "hash")
    groups = (empty(shape) for shape in request.shapes)
    return answer(request, groups, (), "hash: every key goes where Spark would send it")
