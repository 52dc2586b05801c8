"""What each key has in each part: rows that it shares with the keys there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_array

from keyroute.core.compiled import COMPILES, compiled
from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array


def pulls(
    graphs: Iterable[csr_array], members: slice, assignment: Int32Array, parts: int
) -> FloatArray:
    """Rows that some vertices of graphs (V, V) have in each part (m, parts), in all of these."""
    found = np.zeros((members.stop - members.start, parts))
    for graph in graphs:
        starts = graph.indptr[members.start : members.stop + 1]
        if COMPILES:
            _add(starts, graph.indices, graph.data, assignment, found)
        else:
            _add_at_once(starts, graph.indices, graph.data, assignment, found)
    return found


@compiled
def _add(
    starts: Int32Array,
    others: Int32Array,
    pairs: FloatArray,
    assignment: Int32Array,
    found: FloatArray,
) -> None:
    for v in range(len(starts) - 1):
        for i in range(starts[v], starts[v + 1]):
            p = assignment[others[i]]
            if p >= 0:
                found[v, p] += pairs[i]


def _add_at_once(
    starts: Int32Array,
    others: Int32Array,
    pairs: FloatArray,
    assignment: Int32Array,
    found: FloatArray,
) -> None:
    """The same, without a compiler: far faster than the loop as it is written."""
    entries = slice(starts[0], starts[-1])
    to = assignment[others[entries]]
    cell = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * found.shape[1] + to
    placed = to >= 0
    sums = np.bincount(cell[placed], pairs[entries][placed], minlength=found.size)
    found += sums.reshape(found.shape)


def local_weight(
    starts: Int32Array, others: Int32Array, pairs: FloatArray, assignment: Int32Array
) -> float:
    """Weight of the pairs of a graph's rows whose two keys share a part."""
    if COMPILES:
        return float(_together(starts, others, pairs, assignment))
    here = np.repeat(assignment, np.diff(starts))
    return float(pairs[(here == assignment[others]) & (here >= 0)].sum())


@compiled
def _together(
    starts: Int32Array, others: Int32Array, pairs: FloatArray, assignment: Int32Array
) -> float:
    weight = 0.0
    for v in range(len(starts) - 1):
        here = assignment[v]
        if here >= 0:
            for i in range(starts[v], starts[v + 1]):
                # Read in any case: without a jump, which is hard to guess.
                rows = pairs[i]
                weight += rows if assignment[others[i]] == here else 0.0
    return weight
