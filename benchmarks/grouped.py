"""A planner that knows of no executors, and partitions grouped on them afterwards."""

from __future__ import annotations

from dataclasses import replace

from keyroute.core.plan import Plan, Planner, PlanRequest, between_of
from keyroute.planners.answer import parts_of


class GroupedAfterwards:
    """Assigns keys by partition; parts then take partitions with most pairs between them."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._between = between_of(planner)

    def __call__(self, request: PlanRequest) -> Plan:
        plan = self._planner(replace(request, executors=0))
        return replace(plan, parts=parts_of(request, plan.groups))

    @property
    def between(self) -> Planner | None:
        """As the planner's own, where it has one."""
        between = self._between
        return between and (lambda request: between(replace(request, executors=0)))
