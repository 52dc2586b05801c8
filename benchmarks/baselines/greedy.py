"""On-Greedy and Off-Greedy: least loaded worker for each key, online and offline.

Nasir et al., *The Power of Both Choices*, ICDE 2015, §V-B (Q1).
"""

from __future__ import annotations

from baselines.first_sight import keys_of, plan_by_first_sight
from keyroute.core.plan import Plan, PlanRequest, only_options
from keyroute.core.table import GroupShape, GroupTable
from keyroute.planners.answer import answer
from keyroute.planners.scheduling import longest_first


def plan_on_greedy(request: PlanRequest) -> Plan:
    """A new key goes to the least loaded partition, for good."""
    only_options(request.settings, "on-greedy")
    return plan_by_first_sight(
        request,
        lambda _, loads, __: int(loads.argmin()),
        "On-Greedy: a new key goes to the least loaded partition",
    )


def plan_off_greedy(request: PlanRequest) -> Plan:
    """All keys that were seen, the heaviest first, each to the least loaded partition: all anew."""
    only_options(request.settings, "off-greedy")
    tables = (_sorted(request, shape) for shape in request.shapes)
    why = "Off-Greedy: the heaviest key first, each to the least loaded partition"
    return answer(request, tables, (), why)


def _sorted(request: PlanRequest, shape: GroupShape) -> GroupTable:
    keys = keys_of(request, shape)
    return GroupTable(shape, keys.fingerprints, longest_first(keys.rows, keys.base))
