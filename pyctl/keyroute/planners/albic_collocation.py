"""ALBIC's steps 2 and 3: keep what is collocated, and collocate what brings most (§III-B2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int64Array
from keyroute.planners.albic_model import BoolArray, Model, Rates
from keyroute.planners.albic_split import split

MOST_MOVED = 0.1
"""Share of a group's migration cost that step 3 may bring about in one plan."""

LOOKED_AT = 20
"""Pairs that step 3 looks at for each that it wants."""

MOST_PINNED = 0.9
"""Load that is tied to one node, as a share of its mean: the rest is needed for balance."""


def maintain(model: Model, rates: Sequence[Rates], max_load: float, budget: float) -> Int64Array:
    """Step 2: the piece of each key group (K,), -1 where it is collocated with none.

    Scored pairs at one home form sets, which are split into pieces of at most `max_load` and a
    migration cost of at most `budget`, with few rows between pieces.
    """
    size = len(model.load)
    a, b, rows = _pairs(model, rates, together=True)
    one_way = coo_array((rows, (a, b)), shape=(size, size)).tocsr()
    between = (one_way + one_way.T).tocsr()
    _, component = connected_components(between, directed=False)
    order = np.argsort(component, kind="stable")
    sets = np.split(order, np.cumsum(np.bincount(component))[:-1])
    piece = np.full(size, -1, np.int64)
    count = 0
    for members in sets:
        if len(members) > 1:
            for inside in split(model, between, members, max_load, budget):
                piece[inside] = count
                count += 1
    return piece


def improve(
    model: Model,
    rates: Sequence[Rates],
    piece: Int64Array,
    pairs: int,
    budget: float,
) -> dict[int, int]:
    """Step 3: nodes of key groups, so that the pairs with most rows between them come together.

    A pair goes where the one is that belongs to a set, or to the node with the smaller load. All of
    a set goes with it. Pairs are passed over whose moves part more rows than they bring together,
    would take more than half of what the model's pins leave of the budget (balance needs the rest),
    or tie too much to one node.
    """
    if not pairs:
        return {}
    a, b, rows = _pairs(model, rates, together=False)
    moves = _Moves(model, rates, piece, budget)
    done = 0
    for at in np.argsort(-rows, kind="stable")[: LOOKED_AT * pairs]:
        if done >= pairs:
            break
        done += moves.collocate(int(a[at]), int(b[at]))
    return {moves.member[one]: node for one, node in moves.node.items()}


class _Moves:
    """Sets (or single key groups) that have a node so far, and what that costs."""

    def __init__(
        self, model: Model, rates: Sequence[Rates], piece: Int64Array, budget: float
    ) -> None:
        pieces = int(piece.max(initial=-1)) + 1
        self.one = np.where(piece >= 0, piece, pieces + np.arange(len(piece)))
        self.model = model
        self.is_set = piece >= 0
        cell = self.one * model.groups + model.group
        size = (pieces + len(piece)) * model.groups
        self.load = _table(cell, model.load, size, model.groups)
        self.cost = _table(cell, model.cost, size, model.groups)
        self.pull = self._pull(rates)
        self.node: dict[int, int] = {}
        self.member: dict[int, int] = {}
        self.left = np.clip((budget - model.pinned_cost) / 2, 0.0, MOST_MOVED)
        self.loads = model.loads(model.home)
        self.pinned = np.zeros_like(self.loads)

    def collocate(self, a: int, b: int) -> bool:
        """Gives both one node, if that is possible."""
        ones = [int(self.one[k]) for k in (a, b)]
        homes = [int(self.model.home[k]) for k in (a, b)]
        fixed = [self.node.get(one) for one in ones]
        if None not in fixed:
            return False
        held = next((node for node in fixed if node is not None), None)
        target = held if held is not None else self._choose((a, b), homes)
        new = [i for i, node in enumerate(fixed) if node is None]
        cost, load = np.zeros(self.model.groups), np.zeros(self.model.groups)
        brought = 0.0
        for i in new:
            load += self.load[ones[i]]
            if homes[i] != target:
                cost += self.cost[ones[i]]
                brought += self.pull[ones[i], target] - self.pull[ones[i], homes[i]]
        too_much = (self.pinned[target] + load > MOST_PINNED) & (load > 0)
        if self.model.leaving[target] or too_much.any() or brought <= 0:
            return False
        if (cost > self.left + 1e-12).any():
            return False
        self.left -= cost
        self.pinned[target] += load
        for i in new:
            self.loads[homes[i]] -= self.load[ones[i]]
            self.loads[target] += self.load[ones[i]]
            self.node[ones[i]] = target
            self.member[ones[i]] = (a, b)[i]
        return True

    def _pull(self, rates: Sequence[Rates]) -> FloatArray:
        """Rows between each set and the key groups of each node (sets, n), as they are now."""
        n = self.model.nodes
        pull: FloatArray = np.zeros(len(self.load) * n)
        for edge in rates:
            for one, other in (
                (edge.upstream, edge.downstream),
                (edge.downstream, edge.upstream),
            ):
                apart = self.one[one] != self.one[other]
                cell = self.one[one] * n + self.model.home[other]
                pull += np.bincount(cell[apart], edge.rows[apart], len(pull))
        return pull.reshape(-1, n)

    def _choose(self, pair: tuple[int, int], homes: list[int]) -> int:
        staying = [not self.model.leaving[node] for node in homes]
        if staying[0] != staying[1]:
            return homes[0] if staying[0] else homes[1]
        in_set = [bool(self.is_set[k]) for k in pair]
        if in_set[0] != in_set[1]:
            return homes[0] if in_set[0] else homes[1]
        return min(homes, key=lambda node: float(self.loads[node].sum()))


def _table(cell: Int64Array, values: FloatArray, size: int, wide: int) -> FloatArray:
    table: FloatArray = np.bincount(cell, values, size).astype(np.float64).reshape(-1, wide)
    return table


def _pairs(
    model: Model, rates: Sequence[Rates], together: bool
) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Scored pairs that are at one home, or that are not. Hot key groups are alone."""
    none = np.empty(0, np.int64)
    a, b, rows = [none], [none], [np.empty(0)]
    for edge in rates:
        same: BoolArray = model.home[edge.upstream] == model.home[edge.downstream]
        hot = model.hot[edge.upstream] | model.hot[edge.downstream]
        kept = edge.scored & ~hot & (same if together else ~same)
        a.append(edge.upstream[kept])
        b.append(edge.downstream[kept])
        rows.append(edge.rows[kept])
    return np.concatenate(a), np.concatenate(b), np.concatenate(rows)
