"""Refinement: capacities hold from any start, and no pass makes an assignment worse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streams
from keyroute.core.graph import KeyGraph, build
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.refine import refine

PARTITIONS = 4


def graph(seed: int = 1, rows: int = 4_000) -> KeyGraph:
    period = streams.count(streams.correlated(seed, rows), n=PARTITIONS)
    return build(tuple(g.shape for g in period.groups), [period], 4.0, 1.0)


def problem(of: KeyGraph, alpha: float = 1.03) -> Problem:
    return pose(of, PARTITIONS, alpha, np.full(of.vertices, -1, np.int32), 0.03)


@pytest.mark.parametrize("start", ["all in one", "nothing placed", "at random"])
def test_capacities_hold_from_any_start(start: str) -> None:
    posed = problem(graph())
    vertices = posed.graph.vertices
    assignment = {
        "all in one": np.zeros(vertices, np.int32),
        "nothing placed": np.full(vertices, -1, np.int32),
        "at random": np.random.default_rng(2).integers(0, PARTITIONS, vertices).astype(np.int32),
    }[start]
    refined = refine(posed, assignment)
    assert (refined >= 0).all()
    assert (posed.loads(refined) <= posed.capacity[:, None] * (1 + 1e-6)).all()
    assert posed.local_weight(refined) > 0.5 * posed.graph.edge_weight.sum()


@given(st.integers(0, 1000))
def test_a_feasible_assignment_never_gets_worse(seed: int) -> None:
    posed = problem(graph(3, rows=300), alpha=1.2)
    start = np.random.default_rng(seed).integers(0, PARTITIONS, posed.graph.vertices)
    feasible = refine(posed, start.astype(np.int32))
    assert posed.worth(refine(posed, feasible)) >= posed.worth(feasible) - 1e-9


def test_the_given_assignment_is_left_alone() -> None:
    posed = problem(graph())
    start = np.zeros(posed.graph.vertices, np.int32)
    refine(posed, start)
    assert not start.any()


def test_a_key_stays_home_where_moving_it_brings_less_than_it_costs() -> None:
    of = graph()
    placed = refine(problem(of), np.full(of.vertices, -1, np.int32))
    home = placed.copy()
    stuck = pose(of, PARTITIONS, 1.03, home, move_cost=10.0)
    assert refine(stuck, home).tolist() == home.tolist()
