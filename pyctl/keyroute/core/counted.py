"""Keys that some periods counted, and which of them each counted pair has (arrays only)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from keyroute.core.distinct import Positions, distinct
from keyroute.core.statistics import EdgeStatistics, Period
from keyroute.core.table import Int64Array

KEPT = 8
"""Periods (times groups) whose keys are kept, beyond the plan that asked for them."""


KeysOfPairs = tuple[Int64Array, Int64Array]
"""A group's counted keys, ascending, and the position among them of each pair's key."""


@dataclass(frozen=True, slots=True, eq=False)
class CountedKeys:
    """A group's keys in T periods: `fingerprints` (K,) ascending and their rows in each (T, K).

    A key's rows are those of the group's own sketch; of a key that it lacks, the most that a list
    of pairs has, all such keys together no more than the sketch leaves. `upstream` has the
    position of each pair's key for each edge that begins at the group, `downstream` for each that
    ends there. None of the arrays can be written.
    """

    fingerprints: Int64Array
    rows: NDArray[np.float64]
    upstream: Mapping[EdgeStatistics, Int64Array]
    downstream: Mapping[EdgeStatistics, Int64Array]


def rows_of_keys(group: int, period: Period) -> tuple[Int64Array, NDArray[np.float64]]:
    """Fingerprints of a group's counted keys in one period, ascending, and their rows."""
    counted = _of_period(group, period)
    return counted.fingerprints, counted.rows[0]


def keys_of_pairs(edge: EdgeStatistics, period: Period) -> tuple[KeysOfPairs, KeysOfPairs]:
    """Upstream and downstream keys of one of the period's edges."""
    up, down = _of_period(edge.upstream_group, period), _of_period(edge.downstream_group, period)
    return (up.fingerprints, up.upstream[edge]), (down.fingerprints, down.downstream[edge])


@lru_cache(maxsize=KEPT)
def rows_of_pairs(edge: EdgeStatistics) -> NDArray[np.float64]:
    """Rows of each pair that was counted on an edge (count - error); they cannot be written."""
    rows = (edge.pairs.counts - edge.pairs.errors).astype(np.float64)
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=KEPT)
def _of_period(group: int, period: Period) -> CountedKeys:
    """The newest answers are kept, since all that is said of a plan begins with them."""
    return counted_keys(group, (period,))


def counted_keys(group: int, periods: Sequence[Period]) -> CountedKeys:
    """A group's keys in some periods."""
    of_group = [
        (t, g.keys) for t, p in enumerate(periods) for g in p.groups if g.shape.group == group
    ]
    edges = [(t, edge) for t, period in enumerate(periods) for edge in period.edges]
    begin = [(t, edge) for t, edge in edges if edge.upstream_group == group]
    end = [(t, edge) for t, edge in edges if edge.downstream_group == group]
    lists = [
        *((t, k.fingerprints, (k.counts - k.errors).astype(np.float64)) for t, k in of_group),
        *((t, edge.pairs.upstream, rows_of_pairs(edge)) for t, edge in begin),
        *((t, edge.pairs.downstream, rows_of_pairs(edge)) for t, edge in end),
    ]
    fingerprints, at = _placed([keys for _, keys, _ in lists], len(of_group))
    rows = np.zeros((len(periods), len(fingerprints)))
    own, pairs = slice(len(of_group)), slice(len(of_group), None)
    for (t, _, counts), of in zip(lists[pairs], at[pairs], strict=True):
        np.maximum(rows[t], np.bincount(of, counts, minlength=len(rows[t])), out=rows[t])
    # Not the most of both: where tasks sample they are estimates, of which the most is too much.
    # Nor may keys that the sketch lacks have more than it leaves: a rare key is sampled here or
    # there.
    for (t, keys), (_, _, counts), of in zip(of_group, lists[own], at[own], strict=True):
        rows[t, of] = 0.0
        rows[t] *= min(max(keys.rows - counts.sum(), 0.0) / max(rows[t].sum(), 1e-300), 1.0)
        rows[t, of] = counts
    for array in (fingerprints, rows, *at):
        array.setflags(write=False)
    of_pairs = iter(at[len(of_group) :])
    upstream = {edge: next(of_pairs) for _, edge in begin}
    downstream = {edge: next(of_pairs) for _, edge in end}
    return CountedKeys(fingerprints, rows, upstream, downstream)


def _placed(lists: list[Int64Array], sketches: int) -> tuple[Int64Array, list[Int64Array]]:
    """All distinct keys of some lists, ascending, and the positions of each list's keys.

    Sketches have most keys of the pairs and are far shorter: what they lack is added to theirs.
    """
    known = distinct(np.concatenate([np.empty(0, np.int64), *lists[:sketches]]))
    at = _all_at(known, lists)
    lacking = [keys[of < 0] for keys, of in zip(lists, at, strict=True) if (of < 0).any()]
    if lacking:
        known = distinct(np.concatenate([known, *lacking]))
        at = _all_at(known, lists)
    return known, at


def _all_at(known: Int64Array, lists: list[Int64Array]) -> list[Int64Array]:
    find = Positions(known)
    return [find(keys) for keys in lists]
