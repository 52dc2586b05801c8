"""Refinement of an assignment: hold every group to its capacities, then gain locality.

In the manner of Fiduccia and Mattheyses (1982), a group at a time: the pairs of a chain lead to
other groups, so what a group's keys gain by moving does not change while that group is worked on.
(Pairs within a group make it stale for one pass only.)
"""

from __future__ import annotations

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners import passes
from keyroute.planners.assignment import Problem
from keyroute.planners.standing import Pulls

MAX_PASSES = 12
MAX_EXCHANGES = 400
"""Blocked keys for which a pass looks for an exchange, in each group."""

MAX_SPILLS = 12
MIN_SPILL = 1e-3
"""Overload, as a share of a partition's capacity, that one spilled key must take away."""

_SLACK = 1e-9

MIN_PROGRESS = 1e-4
"""Share of the pairs' weight that a pass must bring for another one to follow."""


def refine(problem: Problem, assignment: Int32Array) -> Int32Array:
    """A better assignment: unplaced keys placed, overload repaired, improving moves made."""
    current = assignment.astype(np.int32)
    best, best_worth = current, -np.inf
    enough = MIN_PROGRESS * float(problem.graph.edge_weight.sum()) + _SLACK
    pulls = Pulls(problem, current)
    for _ in range(MAX_PASSES):
        for index in range(len(problem.graph.shapes)):
            _pass(problem, current, index, pulls)
            pulls.follow(current)
        worth = problem.worth(current, pulls.local_weight)
        if worth > best_worth:
            done = worth < best_worth + enough
            best, best_worth = current.copy(), worth
            if not done:
                continue
        break
    return best


def settle(problem: Problem, parts: Int32Array) -> Int32Array:
    """An assignment to partitions for one to parts (V,); -1 stays."""
    if problem.alone:
        return parts
    found = np.full(len(parts), -1, dtype=np.int32)
    for index in range(len(problem.graph.shapes)):
        members = problem.graph.members(index)
        load, part = problem.load[members], parts[members]
        has = np.flatnonzero(part >= 0)
        order = has[np.argsort(-load[has, 0], kind="stable")]
        loads = problem.loads_of(index, found)
        state = (found[members], load, loads, problem.capacity[index] * (1 + _SLACK))
        passes.settle(order, part, problem.parts, problem.home[members], *state)
    return found


def _pass(problem: Problem, assignment: Int32Array, index: int, pulls: Pulls) -> None:
    """One pass over one group; writes into the assignment, whose pulls are given."""
    members = problem.graph.members(index)
    at = assignment[members]  # a view
    load = problem.load[members]
    pull = pulls.of(members)
    loads = problem.loads_of(index, assignment)
    capacity = problem.capacity[index] * (1 + _SLACK)
    state = (at, load, pull, loads, capacity)
    unplaced = np.flatnonzero(at < 0)
    passes.place(unplaced[np.argsort(-load[unplaced, 0], kind="stable")], *state)
    for _ in range(MAX_SPILLS):
        if not (loads > capacity).any():
            break
        passes.relieve(_cheapest(*state), *state)
        if not _spill(*state):
            break
    most = _most(pull)
    passes.improve(_gaining(at, pull, most), *state)
    passes.exchange(_gaining(at, pull, most)[:MAX_EXCHANGES], *state)


def _cheapest(
    at: Int32Array, load: FloatArray, pull: FloatArray, loads: FloatArray, capacity: FloatArray
) -> Int64Array:
    """Keys of overloaded partitions, the least loss for each unit of load first."""
    over = np.maximum(loads - capacity, 0.0)
    keys = _overloading(at, load, over)
    others = pull[keys].copy()
    rows = np.arange(len(keys))
    others[rows, at[keys]] = -np.inf
    loss = pull[keys, at[keys]] - others.max(axis=1)
    helps = np.minimum(load[keys], over[at[keys]]).sum(axis=1)
    useful = np.flatnonzero(helps > 0)
    order = useful[np.argsort(loss[useful] / helps[useful], kind="stable")]
    cheapest: Int64Array = keys[order]
    return cheapest


def _spill(
    at: Int32Array, load: FloatArray, pull: FloatArray, loads: FloatArray, capacity: FloatArray
) -> bool:
    """Moves one key that fits nowhere, so that less is overloaded in all; whether there is one.

    What it overloads in turn are lighter keys' places, which `relieve` can empty.
    """
    # A group without rows in the newest period has no capacity for them, and needs none.
    capacity = np.maximum(capacity, 1e-300)
    over = np.maximum(loads - capacity, 0.0) / capacity
    keys = _overloading(at, load, over)
    here = at[keys]
    left = np.maximum(loads[here] - load[keys] - capacity, 0.0) / capacity
    put = np.maximum(loads[None] + load[keys][:, None] - capacity, 0.0) / capacity
    less = (over[here] - left).sum(axis=1)[:, None] - (put - over[None]).sum(axis=2)
    less[np.arange(len(keys)), here] = 0.0
    loss = np.maximum(pull[keys, here][:, None] - pull[keys], 0.0)
    value = np.where(less > MIN_SPILL, less / (loss + 1e-3 * pull.max(initial=1e-9)), 0.0)
    if not value.any():
        return False
    best, to = np.unravel_index(int(value.argmax()), value.shape)
    passes.move(int(keys[best]), int(to), at, load, loads)
    return True


def _overloading(at: Int32Array, load: FloatArray, over: FloatArray) -> Int64Array:
    """Keys with a load of partitions with too much of one."""
    keys = np.flatnonzero((over.max(axis=1) > 0)[at])
    loaded: Int64Array = keys[load[keys].max(axis=1) > 0]
    return loaded


def _most(pull: FloatArray) -> FloatArray:
    """What each key has where it has most (m,)."""
    most = np.zeros(len(pull))
    for of_partition in pull.T:
        np.maximum(most, of_partition, out=most)
    return most


def _gaining(at: Int32Array, pull: FloatArray, most: FloatArray) -> Int64Array:
    """Keys that gain somewhere else, the largest gain first."""
    gain = most - pull[np.arange(len(at)), at]
    keys = np.flatnonzero(gain > 0)
    return keys[np.argsort(-gain[keys], kind="stable")]
