"""The migration budget: of the moves that an assignment asks for, those that bring most."""

from __future__ import annotations

import numpy as np

from keyroute.core.table import Int32Array
from keyroute.planners.assignment import Problem


def within(problem: Problem, assignment: Int32Array, share: float, now: Int32Array) -> Int32Array:
    """The assignment with moves taken back until each group moves at most that share of its rows.

    Rows are those of the newest period. `now` (V,) is where keys go, by an entry or by their slot;
    a key of which that is not known (-1) counts as moved with chance 1 - 1/n. A key without an
    entry whose move is taken back gets none. The budget goes before balance.
    """
    kept = assignment.copy()
    moving = np.where(now >= 0, now != assignment, 1.0 - 1.0 / problem.partitions)
    rows = problem.load[:, 1] * moving
    for index in range(len(problem.graph.shapes)):
        members = problem.graph.members(index)
        home, at, here = problem.home[members], assignment[members], now[members]
        moves = np.flatnonzero(home != at)
        pull = problem.attraction(assignment, members)[moves]
        each = np.arange(len(moves))
        gain = pull[each, at[moves]] - np.where(
            here[moves] >= 0, pull[each, here[moves]], pull.mean(axis=1)
        )
        costs = rows[members][moves]
        order = np.argsort(-gain / np.maximum(costs, 1e-300), kind="stable")
        total = float(problem.load[members, 1].sum() + problem.tail[index, 1])
        too_many = np.cumsum(costs[order]) > share * total
        back = moves[order[too_many]]
        kept[members.start + back] = home[back]
    return kept
