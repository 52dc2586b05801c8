"""Contraction: clusters follow the pairs and stay small."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core.graph import build
from keyroute.planners import contract
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.metis_cut import cut, cut_contracted, vertex_weights

N = 4


def problem(seed: int = 1) -> Problem:
    counted = streams.count(streams.correlated(seed, 20_000, clusters=60, keys=1200), n=N)
    graph = build(tuple(g.shape for g in counted.groups), [counted], 4.0, 1.0)
    return pose(
        graph, np.arange(N, dtype=np.int32), 1.03, np.full(graph.vertices, -1, np.int32), 0.03
    )


def test_no_cluster_is_larger_than_its_share_of_a_part() -> None:
    posed = problem()
    weights = vertex_weights(posed)
    most = weights.sum() / (N * contract.CLUSTERS_OF_A_PART)
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


def test_keys_without_pairs_are_left_out_of_a_cut() -> None:
    posed = problem()
    count = posed.graph.vertices
    lone = np.isin(posed.graph.edge_from, [0, 5]) | np.isin(posed.graph.edge_to, [count - 1])
    rest = replace(
        posed.graph,
        edge_from=posed.graph.edge_from[~lone],
        edge_to=posed.graph.edge_to[~lone],
        edge_weight=posed.graph.edge_weight[~lone],
    )
    fewer = pose(rest, np.arange(N, dtype=np.int32), 1.03, posed.home, 0.03)
    for make in (cut, cut_contracted):
        found = make(fewer, range(1))
        assert found is not None
        assert np.flatnonzero(found < 0).tolist() == [0, 5, count - 1]
        assert fewer.local_weight(found) > 0.8 * rest.edge_weight.sum()


@pytest.mark.parametrize("full", [0, 1_000_000])
def test_full_and_sparse_matrices_of_clusters_are_the_same(
    full: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    posed = problem()
    label = contract.clusters(posed.adjacency, vertex_weights(posed), 0.01, seed=1)
    usual = contract.contracted(posed.adjacency, label)
    monkeypatch.setattr(contract, "FULL", full)
    other = contract.contracted(posed.adjacency, label)
    assert (other.toarray() == usual.toarray()).all()
    assert other.indices.tolist() == usual.indices.tolist()
