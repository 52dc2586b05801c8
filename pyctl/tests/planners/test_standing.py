"""Pulls: the same with and without a compiler, and the same kept up as summed anew."""

from __future__ import annotations

import numpy as np
import pytest

import streams
from keyroute.core.graph import build
from keyroute.planners import pulls as pulls_module
from keyroute.planners import standing
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.pulls import local_weight, pulls

N = 4


def problem() -> Problem:
    """Three operators, and weights that no sum of floating point numbers would have exactly."""
    first, second = streams.correlated(1, 6_000)
    columns = (first, second, streams.correlated(2, 6_000)[0])
    counted = [streams.count(columns, n=N), streams.count(columns[::-1], n=N)]
    graph = build(tuple(g.shape for g in counted[0].groups), counted, 3.0, 1.0)
    home = np.random.default_rng(3).integers(-1, N, graph.vertices).astype(np.int32)
    return pose(graph, np.arange(N, dtype=np.int32), 1.03, home, 0.03)


def some(posed: Problem, seed: int) -> np.ndarray:
    """A few keys have no partition."""
    return np.random.default_rng(seed).integers(-1, N, posed.graph.vertices).astype(np.int32)


@pytest.mark.parametrize("compiles", [False, True])
def test_pulls_are_rows_shared_with_the_keys_of_a_partition(
    compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulls_module, "COMPILES", compiles)
    posed = problem()
    at, graph = some(posed, 4), posed.graph
    expected = np.zeros((graph.vertices, N))
    for low, high, weight in zip(graph.edge_from, graph.edge_to, graph.edge_weight, strict=True):
        for key, other in ((low, high), (high, low)):
            if at[other] >= 0:
                expected[key, at[other]] += weight
    members = graph.members(1)
    found = pulls((posed.below, posed.above), members, at, N)
    assert (found == expected[members]).all()
    above = posed.above
    together = local_weight(above.indptr, above.indices, above.data, at)
    assert together == expected[at >= 0, at[at >= 0]].sum() / 2
    assert posed.local_weight(at) == together


@pytest.mark.parametrize("many", [0.0, 1.0])
def test_what_is_kept_up_is_what_a_new_sum_gives(
    many: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "MANY", many)
    posed = problem()
    kept = standing.Pulls(posed, some(posed, 4))
    members = posed.graph.members(1)
    for seed in range(5, 9):
        at = some(posed, seed)
        kept.follow(at)
        assert (kept.of(members) == posed.attraction(at, members)).all()
        assert kept.local_weight == posed.local_weight(at)
