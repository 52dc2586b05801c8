"""Contraction: clusters follow the pairs and stay small."""

from __future__ import annotations

import numpy as np

import streams
from keyroute.core.graph import build
from keyroute.planners import contract
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.metis_cut import cut, cut_contracted, vertex_weights

N = 4


def problem(seed: int = 1) -> Problem:
    counted = streams.count(streams.correlated(seed, 20_000, clusters=60, keys=1200), n=N)
    graph = build(tuple(g.shape for g in counted.groups), [counted], 4.0, 1.0)
    return pose(graph, N, 1.03, np.full(graph.vertices, -1, np.int32), 0.03)


def test_no_cluster_is_larger_than_its_share_of_a_partition() -> None:
    posed = problem()
    weights = vertex_weights(posed)
    most = weights.sum() / (N * contract.CLUSTERS_OF_A_PARTITION)
    label = contract.clusters(posed.adjacency, weights, most, seed=1)
    size = np.bincount(label, weights)
    assert len(size) < posed.graph.vertices / 2
    assert size.max() <= max(most, weights.max()) + 1e-9


def test_pairs_between_clusters_are_kept() -> None:
    posed = problem()
    label = contract.clusters(posed.adjacency, vertex_weights(posed), 0.01, seed=1)
    graph = posed.graph
    apart = label[graph.edge_from] != label[graph.edge_to]
    between = contract.contracted(posed.adjacency, label)
    assert 1 < between.shape[0] < posed.graph.vertices
    assert between.sum() / 2 == np.float64(graph.edge_weight[apart].sum())


def test_a_cut_of_clusters_is_about_as_good_as_one_of_keys() -> None:
    posed = problem()
    of_keys, of_clusters = (make(posed, range(3)) for make in (cut, cut_contracted))
    assert of_keys is not None
    assert of_clusters is not None
    assert posed.local_weight(of_clusters) > 0.95 * posed.local_weight(of_keys)
