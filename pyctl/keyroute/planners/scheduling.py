"""Scheduling of items on partitions, the longest first: LPT (Graham 1969).

Items have sizes (I,), partitions a base load (n,) that stays. An item above the mean of what the
others leave is *hot*: it gets a partition alone, and the mean of the others is their *level*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array

MAX_SWAPS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """`hot` are items, heaviest first; `mean` is the mean load of the partitions without them."""

    hot: Int64Array
    mean: float


def level(sizes: FloatArray, base: FloatArray) -> Level:
    """Which items are hot, and what the other partitions can come to at best."""
    order = np.argsort(-sizes, kind="stable")
    rest, n = float(sizes.sum() + base.sum()), len(base)
    hot = 0
    while hot < min(n - 1, len(order)) and sizes[order[hot]] > rest / (n - hot):
        rest -= float(sizes[order[hot]])
        hot += 1
    return Level(order[:hot], rest / (n - hot))


def longest_first(sizes: FloatArray, base: FloatArray) -> Int32Array:
    """Partition of each item: the largest item first, each to the least loaded partition."""
    loads = base.astype(np.float64)
    at = np.zeros(len(sizes), np.int32)
    for item in np.argsort(-sizes, kind="stable"):
        to = int(loads.argmin())
        at[item] = to
        loads[to] += sizes[item]
    return at


def stay_below(
    sizes: FloatArray, base: FloatArray, home: Int32Array, best: Level, slack: float
) -> Int32Array:
    """The same, but items stay at home (-1: none) while it is at most `slack` above the level.

    Hot items stay, each on a partition of its own.
    """
    loads = base.astype(np.float64)
    at = np.zeros(len(sizes), np.int32)
    is_open = np.ones(len(base), bool)
    for item in best.hot:
        free = is_open[home[item]] if home[item] >= 0 else False
        to = int(home[item]) if free else int(np.where(is_open, loads, np.inf).argmin())
        at[item] = to
        is_open[to] = False
    bound = best.mean * (1 + slack)
    loads[~is_open] = np.inf
    order = np.argsort(-sizes, kind="stable")
    for item in order[len(best.hot) :]:
        to, size = int(home[item]), sizes[item]
        if to < 0 or loads[to] + size > bound:
            to = int(loads.argmin())
        at[item] = to
        loads[to] += size
    return at


def even_out(
    sizes: FloatArray, base: FloatArray, at: Int32Array, best: Level, goal: float
) -> Int32Array:
    """The same, but the fullest partition without a hot item gives to others until it is at `goal`.

    It gives an item, or swaps one for a smaller one, as lessens the sum of squared loads most.
    """
    at = at.copy()
    loads = loads_of(sizes, base, at)
    loads[at[best.hot]] = np.nan
    for _ in range(MAX_SWAPS):
        fullest = int(np.nanargmax(loads))
        if loads[fullest] <= goal:
            break
        mine = np.flatnonzero(at == fullest)
        others = np.flatnonzero((at != fullest) & ~np.isnan(loads[at]))
        lightest = int(np.nanargmin(loads))
        # The last column stands for giving an item away, to the lightest partition.
        given = np.append(sizes[others], 0.0)
        distance = np.append(loads[fullest] - loads[at[others]], loads[fullest] - loads[lightest])
        less = sizes[mine][:, None] - given[None, :]
        gain = less * (distance[None, :] - less)
        if not gain.size or gain.max() <= 1e-12 * goal**2:
            break
        item, other = np.unravel_index(int(gain.argmax()), gain.shape)
        to = int(at[others[other]]) if other < len(others) else lightest
        if other < len(others):
            at[others[other]] = fullest
        at[mine[item]] = to
        loads[fullest] -= less[item, other]
        loads[to] += less[item, other]
    return at


def loads_of(sizes: FloatArray, base: FloatArray, at: Int32Array) -> FloatArray:
    """Load of each partition (n,)."""
    loads: FloatArray = base + np.bincount(at, sizes, minlength=len(base))
    return loads
