"""Keys that one period counted, and which of them each counted pair has (arrays only)."""

from __future__ import annotations

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
    """A group's keys in one period: `fingerprints` ascending and their rows, both (K,).

    A key's rows are the largest of what its sketch and each list of pairs guarantee. For each of
    the period's edges, `upstream` and `downstream` have the position of each pair's key; they are
    empty where that end is of another group.
    """

    fingerprints: Int64Array
    rows: NDArray[np.float64]
    upstream: tuple[Int64Array, ...]
    downstream: tuple[Int64Array, ...]


def rows_of_keys(group: int, period: Period) -> tuple[Int64Array, NDArray[np.float64]]:
    """Fingerprints of a group's counted keys in one period, ascending, and their rows."""
    counted = counted_keys(group, period)
    return counted.fingerprints, counted.rows


def keys_of_pairs(edge: EdgeStatistics, period: Period) -> tuple[KeysOfPairs, KeysOfPairs]:
    """Upstream and downstream keys of one of the period's edges."""
    index = period.edges.index(edge)
    up, down = (
        counted_keys(edge.upstream_group, period),
        counted_keys(edge.downstream_group, period),
    )
    return (up.fingerprints, up.upstream[index]), (down.fingerprints, down.downstream[index])


@lru_cache(maxsize=KEPT)
def rows_of_pairs(edge: EdgeStatistics) -> NDArray[np.float64]:
    """Guaranteed rows of each pair that was counted on an edge; they cannot be written."""
    rows = (edge.pairs.counts - edge.pairs.errors).astype(np.float64)
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=KEPT)
def counted_keys(group: int, period: Period) -> CountedKeys:
    """A group's keys in one period.

    The newest answers are kept, since all that is said of a plan begins with them; they cannot be
    written.
    """
    sketches = [g.keys for g in period.groups if g.shape.group == group]
    lists = [keys.fingerprints for keys in sketches]
    rows = [(keys.counts - keys.errors).astype(np.float64) for keys in sketches]
    for edge in period.edges:
        for end, keys in (
            (edge.upstream_group, edge.pairs.upstream),
            (edge.downstream_group, edge.pairs.downstream),
        ):
            if end == group:
                lists.append(keys)
                rows.append(rows_of_pairs(edge))
    fingerprints, at = _placed(lists, len(sketches))
    most = np.zeros(len(fingerprints))
    for of, guaranteed in zip(at, rows, strict=True):
        np.maximum(most, np.bincount(of, guaranteed, minlength=len(most)), out=most)
    for array in (fingerprints, most, *at):
        array.setflags(write=False)
    ends = iter(at[len(sketches) :])
    nothing = np.empty(0, np.int64)
    both = [
        [next(ends) if end == group else nothing for end in (e.upstream_group, e.downstream_group)]
        for e in period.edges
    ]
    return CountedKeys(
        fingerprints, most, tuple(up for up, _ in both), tuple(down for _, down in both)
    )


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
