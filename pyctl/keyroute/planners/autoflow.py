"""Hotspot-diminishing: slots go from the fullest partition to the emptiest, first fit.

Lu et al., *AutoFlow: Hotspot-Aware, Dynamic Load Balancing for Distributed Stream Processing*,
2021, Algorithm 3. Entries in force are slots of one key. What departs: the step is repeated until
no two partitions differ by the factor, where the paper makes one a window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, PlanRequest, only_options, option, whole_option
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners.answer import answer, parts_of
from keyroute.planners.slot_groups import slot_groups

WINDOW = 1
FACTOR = 0.05
ROUNDS_A_PARTITION = 4
"""Most steps for each partition, where the rounds are not set."""


@dataclass(slots=True)
class Budget:
    """Rows that may still move."""

    left: float


def plan_autoflow(request: PlanRequest) -> Plan:
    """Plans each group by itself. Raises `CannotPlan`."""
    settings = request.settings
    only_options(settings, "autoflow", "window", "factor", "rounds")
    window = whole_option(settings, "window", WINDOW, 1, 1_000)
    factor = option(settings, "factor", FACTOR, 0.0, 1.0)
    rounds = whole_option(settings, "rounds", 0, 0, 1_000_000)
    periods = request.periods[-window:]
    groups = slot_groups(request, periods, [1.0] * len(periods))
    tables = list(groups.kept)
    moved = 0
    for group in groups.planned:
        n = group.table.shape.partitions
        budget = Budget(settings.max_moved * float(group.rows.sum()))
        at = group.home.copy()
        for _ in range(rounds or ROUNDS_A_PARTITION * n):
            chosen = migrate(group.rows, at, n, factor, budget)
            if not len(chosen):
                break
        moved += int((at != group.home).sum())
        tables.append(group.moved(at))
    why = f"autoflow: {moved} slots leave the fullest partitions for the emptiest{groups.note}"
    return answer(request, tables, parts_of(request, tables), why)


def migrate(
    rows: FloatArray, at: Int32Array, partitions: int, factor: float, budget: Budget
) -> Int64Array:
    """One step of the paper's algorithm: writes into `at` (I,), and returns the moved items.

    Items of the fullest partition that fit in half of its distance from the emptiest move there,
    the largest first, as long as they fit.
    """
    loads = np.bincount(at, rows, partitions)
    fullest, emptiest = int(loads.argmax()), int(loads.argmin())
    distance = float(loads[fullest] - loads[emptiest])
    chosen: list[int] = []
    if distance > 0 and distance >= factor * float(loads[fullest]):
        gap = distance / 2
        items = np.flatnonzero((at == fullest) & (rows > 0))
        for item in items[np.argsort(-rows[items], kind="stable")]:
            size = float(rows[item])
            if size <= gap and size <= budget.left:
                chosen.append(int(item))
                gap -= size
                budget.left -= size
    found = np.array(chosen, np.int64)
    at[found] = emptiest
    return found
