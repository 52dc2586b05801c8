"""Round robin: new keys are dealt to the partitions in turn, whatever their load.

Shuffle grouping (Caneill et al. 2016, §2.2) deals messages so, which splits keys; a table can deal
keys only.
"""

from __future__ import annotations

from baselines.first_sight import plan_by_first_sight
from keyroute.core.plan import Plan, PlanRequest, only_options


def plan_round_robin(request: PlanRequest) -> Plan:
    """As many keys on each partition, give or take one."""
    only_options(request.settings, "round-robin")
    return plan_by_first_sight(
        request,
        lambda _, loads, count: count % len(loads),
        "round robin: new keys are dealt to the partitions in turn",
    )
