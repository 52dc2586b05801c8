"""ALBIC's mixed-integer linear program (Madsen et al. 2016, §III-B1), solved by HiGHS.

Variables x (unit, node), d, d_u and d_l; the constraints have the paper's numbers. What departs:
constraint (3) and (4) hold for each group of the query by itself; (5) gives way where the load
distance is above the mean already; the objective also empties nodes that are marked for removal
(the paper states that and leaves it out of its program) and, of plans with the same load
distance, takes the one that moves least; and d below `PRECISION` counts as that, so that HiGHS
knows when to stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array
from keyroute.planners.albic_model import Model
from keyroute.planners.albic_units import Units

W1, W2 = 1.0, 1e-3
"""The paper's weights of d, and of d_u and d_l."""

W_LEFT, W_MOVED = 0.05, 5e-3
"""Weights of a mean load left on a node to be emptied, and of moving a group as a whole."""

PRECISION = 2e-3
"""Load distance that is as good as none."""

REL_GAP = 0.02

MAX_VARIABLES = 12_000
"""Larger programs are not for HiGHS: its preparations alone would be above any time limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Node of each unit, the program's objective, and HiGHS's gap (0: proven to be the best)."""

    at: Int32Array
    objective: float
    gap: float


def objective(model: Model, units: Units, at: Int32Array, precision: float = PRECISION) -> float:
    """What the program minimises, of an assignment (U,); without the term of d_u and d_l."""
    distance = model.distance(units.spread(model, at))
    left = float(_left(model, units)[np.arange(len(at)), at].sum())
    moved = float(units.cost[at != units.home].sum()) / model.groups
    return W1 * max(distance, precision) + left + W_MOVED * moved


def solve(
    model: Model,
    units: Units,
    budget: float,
    time_limit: float,
    known: float = np.inf,
    precision: float = PRECISION,
) -> Solution | None:
    """The program's solution; None where HiGHS has none in time, or there is none.

    `known` is the objective of some assignment: d need not be larger.
    """
    u, n, g = len(units.home), model.nodes, model.groups
    x = u * n
    moves = np.arange(n)[None, :] != units.home[:, None]
    costs = _left(model, units) + W_MOVED / g * moves * units.cost.sum(axis=1)[:, None]
    free = np.ones((u, n))
    held = np.flatnonzero(units.pinned >= 0)
    free[held] = 0.0
    free[held, units.pinned[held]] = 1.0
    loads = model.loads(model.home)
    now = max(model.distance(model.home), float((loads - 1.0)[~model.alone].max(initial=0.0)))
    most = max(min(max(1.0, now), known + 1e-9), precision)
    found = milp(
        np.concatenate([costs.ravel(), [W1, -W2, -W2]]),
        integrality=np.concatenate([np.ones(x), np.zeros(3)]),
        bounds=Bounds(
            np.concatenate([np.zeros(x), [precision, 0.0, 0.0]]),
            np.concatenate([free.ravel(), [most, np.inf, np.inf]]),
        ),
        constraints=_constraints(model, units, budget),
        options={"time_limit": time_limit, "mip_rel_gap": REL_GAP},
    )
    if found.x is None:
        return None
    at = np.asarray(found.x[:x]).reshape(u, n).argmax(axis=1).astype(np.int32)
    gap = float(found.mip_gap) if found.mip_gap is not None else 0.0
    return Solution(at, objective(model, units, at, precision), gap)


def _left(model: Model, units: Units) -> FloatArray:
    """Cost (U, n) of a unit on a node that it is to leave.

    State without load counts a little, or nothing would take it away.
    """
    per_group = model.leaving[:, None] | model.alone
    load: FloatArray = W_LEFT * units.load @ per_group.T
    weight = 1e-2 * units.cost.sum(axis=1) + 1e-6
    return load + W_LEFT * np.outer(weight, model.leaving)


def _constraints(model: Model, units: Units, budget: float) -> list[LinearConstraint]:
    u, n, g = len(units.home), model.nodes, model.groups
    x = u * n
    column = np.arange(x).reshape(u, n)
    # (1) each unit is on one node
    ones = coo_array((np.ones(x), (np.repeat(np.arange(u), n), np.arange(x))), shape=(u, x + 3))
    constraints = [LinearConstraint(ones.tocsr(), 1.0, 1.0)]
    # (2) migration costs at most the budget, of each group
    if budget < 1.0:
        moves = np.arange(n)[None, :] != units.home[:, None]
        costs = np.stack([(moves * units.cost[:, i, None]).ravel() for i in range(g)])
        full = np.concatenate([costs, np.zeros((g, 3))], axis=1)
        constraints.append(LinearConstraint(csr_array(full), -np.inf, budget))
    # (3) load <= mean + (d - d_u), of all but the nodes of hot key groups
    # (4) load >= mean - (d - d_l), of these but the nodes to be emptied
    for upper in (True, False):
        cells = np.argwhere(~model.alone if upper else model.counted)
        data, where, columns = [], [], []
        for at, (node, group) in enumerate(cells):
            has = np.flatnonzero(units.load[:, group])
            data += [units.load[has, group], [-1.0, 1.0] if upper else [1.0, -1.0]]
            columns += [column[has, node], [x, x + 1] if upper else [x, x + 2]]
            where += [np.full(len(has) + 2, at)]
        if not len(cells):
            continue
        matrix = coo_array(
            (np.concatenate(data), (np.concatenate(where), np.concatenate(columns))),
            shape=(len(cells), x + 3),
        )
        low, high = (-np.inf, 1.0) if upper else (1.0, np.inf)
        constraints.append(LinearConstraint(matrix.tocsr(), low, high))
    return constraints
