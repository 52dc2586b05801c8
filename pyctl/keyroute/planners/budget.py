"""The migration budget: of the moves that an assignment asks for, those that bring most."""

from __future__ import annotations

import numpy as np

from keyroute.core.table import Int32Array
from keyroute.planners.assignment import Problem


def within(problem: Problem, assignment: Int32Array, share: float) -> Int32Array:
    """The assignment with moves taken back until each group moves at most that share of its rows.

    Rows are those of the newest period. A key without an entry counts as moved with chance
    1 - 1/n, and one whose move is taken back gets none. The budget goes before balance.
    """
    kept = assignment.copy()
    if share >= 1.0:
        return kept
    rows = problem.load[:, 1] * np.where(problem.home >= 0, 1.0, 1.0 - 1.0 / problem.partitions)
    for index in range(len(problem.graph.shapes)):
        members = problem.graph.members(index)
        home, at = problem.home[members], assignment[members]
        moves = np.flatnonzero(home != at)
        pull = problem.attraction(assignment, members)[moves]
        each = np.arange(len(moves))
        gain = pull[each, at[moves]] - np.where(
            home[moves] >= 0, pull[each, home[moves]], pull.mean(axis=1)
        )
        costs = rows[members][moves]
        order = np.argsort(-gain / np.maximum(costs, 1e-300), kind="stable")
        total = float(problem.load[members, 1].sum() + problem.tail[index, 1])
        too_many = np.cumsum(costs[order]) > share * total
        back = moves[order[too_many]]
        kept[members.start + back] = home[back]
    return kept
