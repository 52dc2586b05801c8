"""Contraction of the key graph: keys that belong together become one vertex, so that METIS has
little left to do.

Size-bounded label propagation (Meyerhenke, Sanders, Schulz 2014): each key joins the cluster that
it shares most rows with and that has room for it. A cluster stays small beside a part, so
that the cut of the clusters can still be balanced.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from keyroute.core.compiled import compiled
from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array

ROUNDS = 4
CLUSTERS_OF_A_PART = 40
"""A cluster may hold so small a share of a part's load."""

FULL = 4
"""Cells for each pair up to which a full matrix of clusters is faster than a sparse one."""


def clusters(graph: csr_array, weights: FloatArray, most: float, seed: int) -> Int64Array:
    """Cluster of each vertex, numbered from 0 on.

    `graph` (V, V) are rows of pairs, `weights` (V,) the vertices' loads, `most` what a cluster may
    weigh.
    """
    label = np.arange(len(weights), dtype=np.int32)
    order = np.random.default_rng(seed).permutation(len(weights))
    for _ in range(ROUNDS):
        moved = propagate(order, graph.indptr, graph.indices, graph.data, weights, most, label)
        if moved < len(weights) / 100:
            break
    used = np.bincount(label, minlength=len(label)) > 0
    numbered: Int64Array = (np.cumsum(used) - 1)[label]
    return numbered


@compiled
def propagate(
    order: Int64Array,
    starts: Int32Array,
    others: Int32Array,
    pairs: FloatArray,
    weights: FloatArray,
    most: float,
    label: Int32Array,
) -> int:
    """One round over all vertices, in that order; writes `label`. How many moved."""
    size = np.zeros(len(label))
    for v in range(len(label)):
        size[label[v]] += weights[v]
    shared = np.zeros(len(label))
    met = np.empty(len(label), np.int32)
    moved = 0
    for v in order:
        clusters_met = 0
        for i in range(starts[v], starts[v + 1]):
            to = label[others[i]]
            if shared[to] == 0.0:
                met[clusters_met] = to
                clusters_met += 1
            shared[to] += pairs[i]
        here = label[v]
        best, rows = here, shared[here]
        for m in range(clusters_met):
            to = met[m]
            if shared[to] > rows and size[to] + weights[v] <= most:
                best, rows = to, shared[to]
        for m in range(clusters_met):
            shared[met[m]] = 0.0
        if best != here:
            size[here] -= weights[v]
            size[best] += weights[v]
            label[v] = best
            moved += 1
    return moved


def contracted(graph: csr_array, label: Int64Array) -> csr_array:
    """Pairs' rows between clusters, without those within one."""
    count = int(label.max()) + 1
    ends = np.repeat(label, np.diff(graph.indptr)), label[graph.indices]
    shape = (count, count)
    if count**2 <= FULL * graph.nnz:
        rows = np.bincount(ends[0] * count + ends[1], graph.data, minlength=count**2)
        made = csr_array(rows.reshape(shape))
    else:
        made = csr_array((graph.data, ends), shape=shape)
    made.setdiag(0)
    made.eliminate_zeros()
    return made
