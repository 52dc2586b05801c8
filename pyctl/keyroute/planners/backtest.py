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
    low, high = history.edge_from[period.pair], history.edge_to[period.pair]
    pull = np.zeros(len(history.group) * partitions)
    for key, other in ((low, high), (high, low)):
        at = assignment[other]
        placed = at >= 0
        cell = key[placed] * partitions + at[placed]
        pull += np.bincount(cell, period.pair_rows[placed], minlength=len(pull))
    return pull.reshape(-1, partitions)


def _score(pulls: Sequence[FloatArray], half_life: float) -> float:
    """Decayed share of the rows that follow their key's foretold partition."""
    fade = faded(1, half_life)
    known, score, weight = np.zeros_like(pulls[0]), 0.0, 0.0
    for before, after in itertools.pairwise(pulls):
        known = known * fade + before
        chosen = known.argmax(axis=1)
        knows = known.max(axis=1) > 0
        rows = after.sum()
        hit = after[knows, chosen[knows]].sum() / rows if rows else 0.0
        score, weight = KEEP * score + (1 - KEEP) * float(hit), KEEP * weight + 1 - KEEP
    return score / weight if weight else 0.0
