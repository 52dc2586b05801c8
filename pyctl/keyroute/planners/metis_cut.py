"""The call of METIS: k-way cuts of the key graph, the best of some seeds (Karypis, Kumar 1998).

A cut has the part of each key, an executor's, and not its partition: within a part all is local.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pymetis
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners import contract
from keyroute.planners.assignment import Problem
from keyroute.planners.silence import silenced

UFACTOR = 30
"""METIS's imbalance bound in thousandths: 1.03, on the sum of all groups' load."""

_MOST = 1_000_000_000
"""Bound of the sums of METIS's 32-bit integer weights."""

Cut = Callable[[int], Int32Array | None]


def cut(problem: Problem, seeds: range) -> Int32Array | None:
    """The best cut of the keys that have pairs: parts (V,), -1 for others. None where METIS fails.

    pymetis passes one weight for each vertex, so METIS balances the groups' sum, each group's
    loads being scaled to the same total; `refine` holds each group to its own capacities.
    """
    paired, graph = _paired(problem)
    weights = vertex_weights(problem)[paired]
    return _best(problem, paired, seeds, _metis(problem, graph, weights))


def cut_contracted(problem: Problem, seeds: range) -> Int32Array | None:
    """As `cut`, of clusters of keys in place of keys: not quite as good, and much faster."""
    paired, graph = _paired(problem)
    weights = vertex_weights(problem)[paired]
    most = float(weights.sum()) / (problem.executors * contract.CLUSTERS_OF_A_PART)

    def of_clusters(seed: int) -> Int32Array | None:
        label = contract.clusters(graph, weights, most, seed)
        small = contract.contracted(graph, label)
        found = _metis(problem, small, np.bincount(label, weights).astype(np.float64))(seed)
        return None if found is None else found[label]

    return _best(problem, paired, seeds, of_clusters)


def _paired(problem: Problem) -> tuple[Int64Array, csr_array]:
    """The vertices that have pairs, and the pairs between them."""
    graph = problem.adjacency
    paired = np.flatnonzero(np.diff(graph.indptr))
    if len(paired) == problem.graph.vertices:
        return paired, graph
    renumbered = np.cumsum(np.diff(graph.indptr) > 0, dtype=np.int32) - np.int32(1)
    # Rows without pairs hold nothing: the other rows' entries stay where they are.
    starts = np.append(graph.indptr[paired], graph.indptr[-1:])
    dense = csr_array(
        (graph.data, renumbered[graph.indices], starts), shape=(len(paired), len(paired))
    )
    return paired, dense


def vertex_weights(problem: Problem) -> FloatArray:
    """Load of each vertex as a share of its group's."""
    graph = problem.graph
    totals = np.bincount(graph.group, graph.load, minlength=len(graph.shapes))
    share: FloatArray = graph.load / np.maximum(totals, 1e-300)[graph.group]
    return share


def _best(
    problem: Problem,
    paired: Int64Array,
    seeds: range,
    make: Cut,
) -> Int32Array | None:
    if len(paired) <= problem.executors:
        return None
    best: Int32Array | None = None
    best_local = -1.0
    for seed in seeds:
        parts = make(seed)
        if parts is None:
            continue
        found = np.full(problem.graph.vertices, -1, dtype=np.int32)
        found[paired] = parts
        local = problem.together(found)
        if local > best_local:
            best, best_local = found, local
    return best


def _metis(problem: Problem, graph: csr_array, weights: FloatArray) -> Cut:
    """A cut by METIS for each seed; None where it fails."""
    if graph.shape[0] <= problem.executors or not graph.nnz:
        return lambda _: None
    adjacency = pymetis.CSRAdjacency(
        graph.indptr.astype(np.int32, copy=False), graph.indices.astype(np.int32, copy=False)
    )
    vertices = _integers(weights, 1e7)
    pairs = np.maximum(_integers(graph.data, 100.0), 1)
    sizes = np.bincount(problem.parts)
    shares = None if (sizes == sizes[0]).all() else (sizes / sizes.sum()).tolist()

    def made(seed: int) -> Int32Array | None:
        try:
            # Of few keys for their weights and parts METIS prints that it cannot bisect them, and
            # cuts them all the same.
            with silenced():
                _, parts = pymetis.part_graph(
                    problem.executors,
                    adjacency,
                    vweights=vertices,
                    eweights=pairs,
                    tpwgts=shares,
                    recursive=False,
                    options=pymetis.Options(ufactor=UFACTOR, seed=seed),
                )
        except RuntimeError:
            return None
        return np.array(parts, dtype=np.int32)

    return made


def _integers(values: FloatArray, scale: float) -> Int32Array:
    total = float(values.sum())
    return np.rint(values * min(scale, _MOST / max(total, 1e-300))).astype(np.int32)
