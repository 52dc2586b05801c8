"""Refinement of an assignment: hold every group to its capacity, then gain locality.

In the manner of Fiduccia and Mattheyses (1982), a group at a time: the pairs of a chain lead to
other groups, so what a group's keys gain by moving does not change while that group is worked on.
(Pairs within a group make it stale for one pass only.)
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array
from keyroute.planners.assignment import Problem

MAX_PASSES = 12
MAX_EXCHANGES = 400
"""Blocked keys for which a pass looks for an exchange, in each group."""

_SLACK = 1e-9


def refine(problem: Problem, assignment: Int32Array) -> Int32Array:
    """A better assignment: unplaced keys placed, overload repaired, improving moves made."""
    current = assignment.copy()
    best, best_worth = current, -np.inf
    for _ in range(MAX_PASSES):
        for index in range(len(problem.graph.shapes)):
            _GroupPass(problem, current, index).run()
        worth = problem.worth(current)
        if worth <= best_worth + _SLACK * abs(best_worth):
            break
        best, best_worth = current.copy(), worth
    return best


class _GroupPass:
    """One pass over one group; writes into the assignment it was given."""

    def __init__(self, problem: Problem, assignment: Int32Array, index: int) -> None:
        members = problem.graph.members(index)
        self.at = assignment[members]  # a view
        self.load = problem.graph.load[members]
        self.pull = problem.attraction(assignment, members)
        self.loads: FloatArray = problem.loads(assignment)[index]
        self.capacity = float(problem.capacity[index]) * (1 + _SLACK)

    def run(self) -> None:
        self._place()
        self._repair()
        self._improve()
        self._exchange()

    def _move(self, key: int, to: int) -> None:
        came_from = self.at[key]
        if came_from >= 0:
            self.loads[came_from] -= self.load[key]
        self.loads[to] += self.load[key]
        self.at[key] = to

    def _place(self) -> None:
        """Keys without a partition, heaviest first: to their pairs, or to the lightest."""
        unplaced = np.flatnonzero(self.at < 0)
        for key in unplaced[np.argsort(-self.load[unplaced], kind="stable")]:
            room = self.loads + self.load[key] <= self.capacity
            pull = np.where(room, self.pull[key], -1.0) if room.any() else np.zeros(len(room))
            best = np.flatnonzero(pull == pull.max())
            self._move(key, int(best[np.argmin(self.loads[best])]))

    def _repair(self) -> None:
        """Keys leave overloaded partitions, the least loss for each unit of load first."""
        for partition in np.flatnonzero(self.loads > self.capacity):
            self._relieve(int(partition))

    def _relieve(self, partition: int) -> None:
        keys = np.flatnonzero((self.at == partition) & (self.load > 0))
        loss = self.pull[keys, partition, None] - self.pull[keys]
        loss[:, partition] = np.inf
        over = self.loads[partition] - self.capacity
        per_load = loss.min(axis=1) / np.minimum(self.load[keys], over)
        for at in np.argsort(per_load, kind="stable"):
            if self.loads[partition] <= self.capacity:
                return
            key = keys[at]
            room = np.where(self.loads + self.load[key] <= self.capacity, loss[at], np.inf)
            to = int(np.argmin(room))
            if np.isfinite(room[to]):
                self._move(key, to)

    def _improve(self) -> None:
        """Keys move to where they gain and there is room, the largest gain first."""
        rows = np.arange(len(self.at))
        gain = self.pull.max(axis=1, initial=0.0) - self.pull[rows, self.at]
        wanting = np.flatnonzero(gain > 0)
        for key in wanting[np.argsort(-gain[wanting], kind="stable")]:
            room = self.loads + self.load[key] <= self.capacity
            room[self.at[key]] = True
            to = int(np.argmax(np.where(room, self.pull[key], -np.inf)))
            if self.pull[key, to] > self.pull[key, self.at[key]]:
                self._move(key, to)

    def _exchange(self) -> None:
        """Keys that gain but find no room trade places with cheaper ones."""
        rows = np.arange(len(self.at))
        gain = self.pull.max(axis=1, initial=0.0) - self.pull[rows, self.at]
        wanting = np.flatnonzero(gain > 0)
        for key in wanting[np.argsort(-gain[wanting], kind="stable")][:MAX_EXCHANGES]:
            self._trade(int(key))

    def _trade(self, key: int) -> None:
        here, there = int(self.at[key]), int(np.argmax(self.pull[key]))
        gain = self.pull[key, there] - self.pull[key, here]
        if gain <= 0:
            return
        others = np.flatnonzero((self.at == there) & (self.load > 0))
        loss = self.pull[others, there] - self.pull[others, here]
        need = self.loads[there] + self.load[key] - self.capacity
        order = np.argsort(loss / self.load[others], kind="stable")
        taken = int(np.searchsorted(np.cumsum(self.load[others[order]]), need)) + 1
        single = np.flatnonzero(self.load[others] >= need)
        choices = [order[:taken]]
        if len(single):
            choices.append(single[[np.argmin(loss[single])]])
        for chosen in sorted(choices, key=lambda c: float(loss[c].sum())):
            moved = float(self.load[others[chosen]].sum())
            fits = self.loads[here] - self.load[key] + moved <= self.capacity and moved >= need
            if fits and loss[chosen].sum() < gain:
                for other in others[chosen]:
                    self._move(int(other), here)
                self._move(key, there)
                return
