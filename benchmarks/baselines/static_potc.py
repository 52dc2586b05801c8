"""Static PoTC: a new key goes to the less loaded of two partitions, for good.

Nasir et al., *The Power of Both Choices*, ICDE 2015, §III-A: the power of two choices without key
splitting, so with a routing table.
"""

from __future__ import annotations

import numpy as np

from baselines.choices import choice
from baselines.first_sight import plan_by_first_sight
from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, PlanRequest, only_options


def plan_static_potc(request: PlanRequest) -> Plan:
    """Each key has two candidates by hash; the first wins ties."""
    only_options(request.settings, "static-potc")
    return plan_by_first_sight(
        request, _choose, "static PoTC: a new key goes to the less loaded of two partitions"
    )


def _choose(fingerprint: int, loads: FloatArray, _: int) -> int:
    key = np.array([fingerprint], np.int64)
    one, other = (int(choice(key, seed, len(loads))[0]) for seed in (0, 1))
    return one if loads[one] <= loads[other] else other
