"""How much history to plan from: the half-life that would have foretold the periods so far.

One half-life for all streams is a trap: where partners change, old pairs outvote the new ones, and
where they last, one period knows too little. Planners have no memory, so each period that a request
holds is foretold anew, from those before it. No table is planned for that: keys have partners,
these have partitions, and a half-life is as good as the partition that it would choose for each
key, with all others where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keyroute.core.compiled import COMPILES, compiled
from keyroute.core.graph import FloatArray, KeyHistory, faded
from keyroute.core.table import Int32Array

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
    if len(history.pairs) < 2 or not (assignment >= 0).any():
        return otherwise
    pulls = np.zeros((len(history.pairs), len(history.group), partitions))
    add = add_pairs if COMPILES else add_pairs_at_once
    for counted, pull in zip(history.pairs, pulls, strict=True):
        add(counted.low, counted.high, counted.rows, assignment, pull)
    fades = np.array([faded(1, half_life) for half_life in half_lives])
    followed = foretold(pulls, fades) if COMPILES else foretold_at_once(pulls, fades)
    rows = np.maximum(pulls[1:].sum(axis=(1, 2)), 1e-300)
    scores = [_score(hits) for hits in followed / rows]
    return half_lives[int(np.argmax(scores))]


def _score(hits: FloatArray) -> float:
    """The decayed mean of some shares, oldest first."""
    score, weight = 0.0, 0.0
    for hit in hits:
        score, weight = KEEP * score + (1 - KEEP) * float(hit), KEEP * weight + 1 - KEEP
    return score / weight


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
def foretold(pulls: FloatArray, fades: FloatArray) -> FloatArray:
    """Rows that are where most of their key's were until then (H, T - 1).

    `pulls` (T, V, n) are those of each period; what was until then fades by each of `fades` (H,)
    with each period.
    """
    periods, keys, partitions = pulls.shape
    followed = np.zeros((len(fades), periods - 1))
    known = np.empty((len(fades), partitions))
    for v in range(keys):
        known[:] = 0.0
        for t in range(periods - 1):
            for h in range(len(fades)):
                most, follow = 0.0, 0.0
                for p in range(partitions):
                    # Read before it is chosen, so that no choice is a jump: they are hard to guess.
                    then = pulls[t + 1, v, p]
                    known[h, p] = known[h, p] * fades[h] + pulls[t, v, p]
                    more = known[h, p] > most
                    most = known[h, p] if more else most
                    follow = then if more else follow
                followed[h, t] += follow
    return followed


def foretold_at_once(pulls: FloatArray, fades: FloatArray) -> FloatArray:
    """The same, without a compiler."""
    followed = np.zeros((len(fades), len(pulls) - 1))
    for h, fade in enumerate(fades):
        known = np.zeros_like(pulls[0])
        for t, before in enumerate(pulls[:-1]):
            known = known * fade + before
            chosen = known.argmax(axis=1)
            knows = known.max(axis=1) > 0
            followed[h, t] = pulls[t + 1][knows, chosen[knows]].sum()
    return followed
