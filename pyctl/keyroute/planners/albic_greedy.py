"""Descent by single moves and swaps of units: what HiGHS is to better.

It lessens the sum of squared distances from the mean, which the program does not have, within the
same pins and budget. HiGHS starts from nothing, so this also bounds its search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array
from keyroute.planners.albic_model import Model
from keyroute.planners.albic_units import Units

MAX_MOVES = 2_000

TRIED = 8
"""Nodes, the worst first, that a step looks at."""

_SLACK = 1e-12


def descend(
    model: Model, units: Units, budget: float, goal: float, start: Int32Array | None = None
) -> Int32Array:
    """Node of each unit (U,), from `start` or from home, the best move or swap first.

    It ends at a load distance of `goal` with nothing left on leaving nodes, or where nothing
    helps. Pins are followed, and the budget of each group is kept where pins alone do not break it.
    """
    at = (units.home if start is None else start).astype(np.int32)
    at = np.where(units.pinned >= 0, units.pinned, at).astype(np.int32)
    descent = _Descent(model, units, budget, at)
    for _ in range(MAX_MOVES):
        if descent.is_done(goal) or not descent.step():
            break
    descent.drain()
    return descent.at


def without_load(model: Model, units: Units, budget: float, at: Int32Array) -> Int32Array:
    """The same nodes, but what has no load leaves nodes to be emptied, as the budget allows.

    Its weight in the program is so small that HiGHS may leave it where it is.
    """
    descent = _Descent(model, units, budget, at.astype(np.int32))
    descent.free = descent.free[~units.load[descent.free].any(axis=1)]
    descent.drain()
    return descent.at


class _Descent:
    def __init__(self, model: Model, units: Units, budget: float, at: Int32Array) -> None:
        self.model, self.units, self.at = model, units, at
        self.free = np.flatnonzero(units.pinned < 0)
        self.left: FloatArray = budget - units.cost[at != units.home].sum(axis=0)
        self.off: FloatArray = model.loads(units.spread(model, at)) - np.where(
            model.counted, 1.0, 0.0
        )

    def is_done(self, goal: float) -> bool:
        """Whether all is within the goal."""
        balanced = float(np.abs(self.off[self.model.counted]).max(initial=0.0)) <= goal
        return balanced and not self.off[self.model.leaving].max(initial=0.0) > _SLACK

    def drain(self) -> None:
        """What is left on leaving nodes goes to the emptiest, the lightest first."""
        held = self.free[self.model.leaving[self.at[self.free]]]
        staying = np.where(self.model.leaving, np.inf, 0.0)
        for unit in held[np.argsort(self.units.cost[held].sum(axis=1), kind="stable")]:
            if (self.units.cost[unit] <= np.maximum(self.left, 0.0) + _SLACK).all():
                self._put(int(unit), int((staying + self.off.sum(axis=1)).argmin()))

    def step(self) -> bool:
        """The best move, else the best swap, of the worst node for which there is one."""
        counted = np.where(self.model.counted, np.abs(self.off), 0.0)
        leaving = np.where(self.model.leaving[:, None], self.off, 0.0)
        badness = np.maximum(counted, leaving).max(axis=1)
        worst = np.argsort(-badness, kind="stable")[:TRIED]
        return any(self._move(int(w)) or self._swap(int(w)) for w in worst)

    def _move(self, worst: int) -> bool:
        """Moves the unit from or to a node that brings most; False where none brings anything."""
        at = self.at[self.free]
        best, choice = _SLACK, None
        for units, to in (
            (self.free[at == worst], np.flatnonzero(~self.model.leaving)),
            (self.free[at != worst], np.array([worst])),
        ):
            if not len(units) or self.model.leaving[to].any():
                continue
            load = self.units.load[units]
            gain = (self.off[self.at[units]] * load).sum(1)[:, None] - load @ self.off[to].T
            gain -= (load**2).sum(axis=1)[:, None]
            gain[self.at[units][:, None] == to[None, :]] = 0.0
            away = self.at[units] == self.units.home[units]
            gain[away & (self.units.cost[units] > self.left + _SLACK).any(axis=1)] = 0.0
            if gain.max() > best:
                best = float(gain.max())
                unit, node = np.unravel_index(int(gain.argmax()), gain.shape)
                choice = (int(units[unit]), int(to[node]))
        if choice is None:
            return False
        self._put(*choice)
        return True

    def _swap(self, worst: int) -> bool:
        """Swaps a unit of a node with another's; False where that brings nothing."""
        mine = self.free[self.at[self.free] == worst]
        others = self.free[(self.at[self.free] != worst) & ~self.model.leaving[self.at[self.free]]]
        if not len(mine) or not len(others) or self.model.leaving[worst]:
            return False
        there = self.at[others]
        load, theirs = self.units.load[mine], self.units.load[others]
        # The load of mine less that of theirs goes from the worst node to the other.
        pull = self.off[worst] - self.off[there]
        gain = load @ pull.T - (theirs * pull).sum(axis=1)[None, :]
        gain -= (load**2).sum(1)[:, None] + (theirs**2).sum(1)[None, :] - 2 * load @ theirs.T
        gain[~self._affordable(mine, others, worst, there)] = 0.0
        if gain.max() <= _SLACK:
            return False
        a, b = np.unravel_index(int(gain.argmax()), gain.shape)
        self._put(int(mine[a]), int(there[b]))
        self._put(int(others[b]), worst)
        return True

    def _affordable(
        self, mine: NDArray[np.intp], others: NDArray[np.intp], worst: int, there: Int32Array
    ) -> NDArray[np.bool_]:
        cost, home = self.units.cost, self.units.home
        fits = np.ones((len(mine), len(others)), bool)
        for group in range(self.model.groups):
            out = cost[mine, group, None] * (
                (home[mine, None] != there[None, :]).astype(float) - (home[mine, None] != worst)
            )
            back = cost[others, group] * (
                (home[others] != worst).astype(float) - (home[others] != there)
            )
            fits &= out + back[None, :] <= max(self.left[group], 0.0) + _SLACK
        return fits

    def _put(self, unit: int, to: int) -> None:
        came_from, home = self.at[unit], self.units.home[unit]
        self.left = self.left - self.units.cost[unit] * (int(to != home) - int(came_from != home))
        self.off[came_from] -= self.units.load[unit]
        self.off[to] += self.units.load[unit]
        self.at[unit] = to
