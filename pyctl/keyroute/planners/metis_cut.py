"""The call of METIS: k-way cuts of the key graph, the best of some seeds (Karypis, Kumar 1998)."""

from __future__ import annotations

import numpy as np
import pymetis

from keyroute.core.table import Int32Array
from keyroute.planners.assignment import Problem

UFACTOR = 30
"""METIS's imbalance bound in thousandths: 1.03, on the sum of all groups' load."""

_MOST = 1_000_000_000
"""Bound of the sums of METIS's 32-bit integer weights."""


def cut(problem: Problem, seeds: range) -> Int32Array | None:
    """The best cut of the keys that have pairs; -1 for other keys. None where METIS fails.

    pymetis passes one weight for each vertex, so METIS balances the groups' sum, each group's
    loads being scaled to the same total; `refine` holds each group to its own capacity.
    """
    paired = np.flatnonzero(np.diff(problem.adjacency.indptr))
    if len(paired) <= problem.partitions:
        return None
    graph = problem.adjacency[paired][:, paired].tocsr()
    edge_weights = _integers(graph.data, 100.0)
    edge_weights = np.maximum(edge_weights, 1)
    best: Int32Array | None = None
    best_local = -1.0
    for seed in seeds:
        try:
            _, parts = pymetis.part_graph(
                problem.partitions,
                pymetis.CSRAdjacency(graph.indptr.astype(np.int32), graph.indices.astype(np.int32)),
                vweights=_vertex_weights(problem)[paired],
                eweights=edge_weights,
                recursive=False,
                options=pymetis.Options(ufactor=UFACTOR, seed=seed),
            )
        except RuntimeError:
            continue
        found = np.full(problem.graph.vertices, -1, dtype=np.int32)
        found[paired] = parts
        local = problem.local_weight(found)
        if local > best_local:
            best, best_local = found, local
    return best


def _vertex_weights(problem: Problem) -> Int32Array:
    graph = problem.graph
    totals = np.bincount(graph.group, graph.load, minlength=len(graph.shapes))
    share = graph.load / np.maximum(totals, 1e-300)[graph.group]
    return _integers(share, 1e7)


def _integers(values: np.ndarray[tuple[int], np.dtype[np.float64]], scale: float) -> Int32Array:
    total = float(values.sum())
    return np.rint(values * min(scale, _MOST / max(total, 1e-300))).astype(np.int32)
