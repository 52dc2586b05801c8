"""How much history to plan from: the half-life that would have foretold the periods so far.

One half-life for all streams is a trap: where partners change, old pairs outvote the new ones, and
where they last, one period knows too little. Planners have no memory, so each period that a request
holds is foretold anew, from those before it. No table is planned for that: keys have partners,
these have partitions, and a half-life is as good as the partition that it would choose for each
key, with all others where they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from keyroute.core.graph import Counted, FloatArray, KeyHistory, faded
from keyroute.core.table import Int32Array
from keyroute.planners.compiled import COMPILES, compiled

KEEP = 0.7
"""Share that a half-life's score keeps when the next period is foretold."""


def best_half_life(
    history: KeyHistory,
    half_lives: Sequence[float],
    assignment: Int32Array,
    partitions: int,
    otherwise: float,
) -> float:
    """The half-life with the best score, in periods; 0 is the last period alone.

    `assignment` (V,) has the partition of each of the history's keys, -1 where it has none.
    `otherwise` is taken where nothing can be foretold: no key has a partition, or there is one
    period.
    """
    if len(history.periods) < 2 or not (assignment >= 0).any():
        return otherwise
    pulls = [_pull(history, period, assignment, partitions) for period in history.periods]
    return max(half_lives, key=lambda half_life: _score(pulls, half_life))


def _pull(
    history: KeyHistory, period: Counted, assignment: Int32Array, partitions: int
) -> FloatArray:
    """Rows that each key shares with the keys of each partition in a period (V, n)."""
    pull = np.zeros((len(history.group), partitions))
    ends = history.edge_from[period.pair], history.edge_to[period.pair]
    if COMPILES:
        add_pairs(*ends, period.pair_rows, assignment, pull)
    else:
        add_pairs_at_once(*ends, period.pair_rows, assignment, pull)
    return pull


def _score(pulls: Sequence[FloatArray], half_life: float) -> float:
    """Decayed share of the rows that follow their key's foretold partition."""
    fade = faded(1, half_life)
    known, score, weight = np.zeros_like(pulls[0]), 0.0, 0.0
    foretell = foretold if COMPILES else foretold_at_once
    for before, after in itertools.pairwise(pulls):
        followed, rows = foretell(known, before, after, fade)
        hit = followed / rows if rows else 0.0
        score, weight = KEEP * score + (1 - KEEP) * hit, KEEP * weight + 1 - KEEP
    return score / weight if weight else 0.0


@compiled
def add_pairs(
    low: Int32Array, high: Int32Array, rows: FloatArray, at: Int32Array, pull: FloatArray
) -> None:
    """Adds each pair's rows to what its two keys have where the other one is."""
    for i in range(len(rows)):
        here, there = at[low[i]], at[high[i]]
        if there >= 0:
            pull[low[i], there] += rows[i]
        if here >= 0:
            pull[high[i], here] += rows[i]


def add_pairs_at_once(
    low: Int32Array, high: Int32Array, rows: FloatArray, at: Int32Array, pull: FloatArray
) -> None:
    """The same, without a compiler: far faster than the loop as it is written."""
    for key, other in ((low, high), (high, low)):
        to = at[other]
        placed = to >= 0
        cell = key[placed] * np.int64(pull.shape[1]) + to[placed]
        sums = np.bincount(cell, rows[placed], minlength=pull.size)
        pull += sums.reshape(pull.shape)


@compiled
def foretold(
    known: FloatArray, before: FloatArray, after: FloatArray, fade: float
) -> tuple[float, float]:
    """Rows of `after` that are where most of a key's were until then, and all of them.

    `before` is added to `known`, faded. All three are pulls (V, n).
    """
    followed, rows = 0.0, 0.0
    for v in range(known.shape[0]):
        chosen = 0
        for p in range(known.shape[1]):
            known[v, p] = known[v, p] * fade + before[v, p]
            if known[v, p] > known[v, chosen]:
                chosen = p
            rows += after[v, p]
        if known[v, chosen] > 0:
            followed += after[v, chosen]
    return followed, rows


def foretold_at_once(
    known: FloatArray, before: FloatArray, after: FloatArray, fade: float
) -> tuple[float, float]:
    """The same, without a compiler."""
    np.multiply(known, fade, out=known)
    np.add(known, before, out=known)
    chosen = known.argmax(axis=1)
    knows = known.max(axis=1) > 0
    return float(after[knows, chosen[knows]].sum()), float(after.sum())
