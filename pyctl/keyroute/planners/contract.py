"""Contraction of the key graph: keys that belong together become one vertex, so that METIS has
little left to do.

Size-bounded label propagation (Meyerhenke, Sanders, Schulz 2014): each key joins the cluster that
it shares most rows with and that has room for it. A cluster stays small beside a partition, so
that the cut of the clusters can still be balanced.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int64Array
from keyroute.planners.compiled import compiled

ROUNDS = 4
CLUSTERS_OF_A_PARTITION = 40
"""A cluster may hold so small a share of a partition's load."""


def clusters(graph: csr_array, weights: FloatArray, most: float, seed: int) -> Int64Array:
    """Cluster of each vertex, numbered from 0 on.

    `graph` (V, V) are rows of pairs, `weights` (V,) the vertices' loads, `most` what a cluster may
    weigh.
    """
    label = np.arange(len(weights))
    order = np.random.default_rng(seed).permutation(len(weights))
    for _ in range(ROUNDS):
        moved = propagate(
            order,
            graph.indptr.astype(np.int64),
            graph.indices.astype(np.int64),
            graph.data,
            weights,
            most,
            label,
        )
        if moved < len(weights) / 100:
            break
    return np.unique(label, return_inverse=True)[1]


@compiled
def propagate(
    order: Int64Array,
    starts: Int64Array,
    others: Int64Array,
    pairs: FloatArray,
    weights: FloatArray,
    most: float,
    label: Int64Array,
) -> int:
    """One round over all vertices, in that order; writes `label`. How many moved."""
    size = np.zeros(len(label))
    for v in range(len(label)):
        size[label[v]] += weights[v]
    shared = np.zeros(len(label))
    moved = 0
    for v in order:
        low, high = starts[v], starts[v + 1]
        for i in range(low, high):
            shared[label[others[i]]] += pairs[i]
        here = label[v]
        best, rows = here, shared[here]
        for i in range(low, high):
            to = label[others[i]]
            if shared[to] > rows and size[to] + weights[v] <= most:
                best, rows = to, shared[to]
        for i in range(low, high):
            shared[label[others[i]]] = 0.0
        if best != here:
            size[here] -= weights[v]
            size[best] += weights[v]
            label[v] = best
            moved += 1
    return moved


def contracted(graph: csr_array, label: Int64Array) -> csr_array:
    """Pairs' rows between clusters, without those within one."""
    count = int(label.max()) + 1
    member = csr_array(
        (np.ones(len(label)), (label, np.arange(len(label)))), shape=(count, len(label))
    )
    made = csr_array(member @ graph @ member.T)
    made.setdiag(0)
    made.eliminate_zeros()
    return made
