"""Between full plans: a place for keys that are new, and nothing else.

A key without an entry is where Spark's hash put it, mostly away from its partners. It has hardly
any state yet, so it goes to them at once, as long as their partition has room.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array
from keyroute.planners.assignment import Problem

ROOM = 1.10
"""A partition takes no new keys from so many times its operator's mean load on."""

ROUNDS = 2
"""New keys may have new partners, which have a place from the second round on."""


def place_new(problem: Problem, rows: FloatArray) -> Int32Array:
    """Partition of each vertex: where it is, or, for keys that are new, where it should go.

    New keys are those without a home that have `rows` (V,) now; -1 is left to keys whose partners
    are nowhere, or only where there is no room.
    """
    found = problem.home.copy()
    for _ in range(ROUNDS):
        for index in range(len(problem.graph.shapes)):
            _place(problem, found, index, rows)
    return found


def _place(problem: Problem, found: Int32Array, index: int, rows: FloatArray) -> None:
    members = problem.graph.members(index)
    at, load = found[members], problem.load[members, 0]
    new = np.flatnonzero((at < 0) & (rows[members] > 0))
    if not len(new):
        return
    pull = problem.attraction(found, members)
    loads = problem.loads(found)[index, :, 0]
    most = ROOM * problem.all_load[index] / problem.partitions
    for key in new[np.argsort(-load[new], kind="stable")]:
        gain = np.where(loads < most, pull[key], 0.0)
        if gain.any():
            # Partitions of one part have the same: the lightest of them.
            best = np.flatnonzero(gain == gain.max())
            to = best[loads[best].argmin()]
            at[key] = to
            loads[to] += load[key]
