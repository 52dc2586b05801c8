"""Flux: slots go from the most loaded worker to the least loaded, from the second to the second...

Shah et al., *Flux: An Adaptive Partitioning Operator for Continuous Query Systems*, ICDE 2003, as
Nasir et al. 2015, §VII, and Madsen et al. 2016, §IV-A, describe it: within a budget of migrations.
A worker's load is that of all its operators. A pair moves the one slot that evens it out best.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import Plan, PlanRequest, only_options, option
from keyroute.core.table import Int32Array
from keyroute.planners.answer import answer
from keyroute.planners.slot_groups import slot_groups

TOLERANCE = 1e-9


def plan_flux(request: PlanRequest) -> Plan:
    """Rounds of moves, until none evens a pair out or `moves` slots moved (0: no bound)."""
    only_options(request.settings, "flux", "moves")
    moves = int(option(request.settings, "moves", 0, 0, 1_000_000))
    groups = slot_groups(request, request.periods[-1:], [1.0] * len(request.periods[-1:]))
    rows = np.concatenate([g.rows for g in groups.planned])
    home = np.concatenate([g.home for g in groups.planned])
    at = diminish(rows, home, groups.planned[0].table.shape.partitions, moves)
    tables, start = list(groups.kept), 0
    for group in groups.planned:
        tables.append(group.moved(at[start : start + len(group.rows)]))
        start += len(group.rows)
    moved = int((at != home).sum())
    return answer(request, tables, (), f"Flux: {moved} slots move{groups.note}")


def diminish(rows: FloatArray, home: Int32Array, workers: int, moves: int) -> Int32Array:
    """Where each item is after all rounds."""
    at = home.copy()
    loads = np.bincount(at, rows, workers)
    left = moves or len(rows)
    while left:
        order = np.argsort(-loads, kind="stable")
        before = left
        for donor, receiver in zip(order[: workers // 2], order[::-1], strict=False):
            item = _item(rows, at, donor, float(loads[donor] - loads[receiver]))
            if item >= 0 and left:
                at[item] = receiver
                loads[donor] -= rows[item]
                loads[receiver] += rows[item]
                left -= 1
        if left == before:
            break
    return at


def _item(rows: FloatArray, at: Int32Array, donor: int, gap: float) -> int:
    """The donor's item nearest to half of the gap, if it narrows the gap; else -1."""
    fits = np.flatnonzero((at == donor) & (rows > 0) & (rows < gap * (1 - TOLERANCE)))
    return int(fits[np.abs(rows[fits] - gap / 2).argmin()]) if len(fits) else -1
