"""Refinement: capacities hold from any start, and no pass makes an assignment worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streams
from keyroute.core.compiled import COMPILES
from keyroute.core.graph import KeyGraph, build
from keyroute.planners import passes
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.refine import refine, settle

PARTITIONS = 4


def graph(seed: int = 1, rows: int = 4_000) -> KeyGraph:
    period = streams.count(streams.correlated(seed, rows), n=PARTITIONS)
    return build(tuple(g.shape for g in period.groups), [period], 4.0, 1.0)


def problem(of: KeyGraph, alpha: float = 1.03, parts: Sequence[int] = range(PARTITIONS)) -> Problem:
    nowhere = np.full(of.vertices, -1, np.int32)
    return pose(of, np.array(parts, np.int32), alpha, nowhere, 0.03)


@pytest.mark.parametrize("parts", [(0, 1, 2, 3), (0, 1, 0, 1), (0, 0, 1, 0)])
@pytest.mark.parametrize("start", ["all in one", "nothing placed", "at random"])
def test_capacities_hold_from_any_start(start: str, parts: tuple[int, ...]) -> None:
    posed = problem(graph(), parts=parts)
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


def test_capacities_hold_where_the_newest_period_had_no_rows() -> None:
    counted = streams.count(streams.correlated(1, 4_000), n=PARTITIONS)
    nothing = replace(counted, rows=0, groups=(), edges=())
    of = build(tuple(g.shape for g in counted.groups), [counted, nothing], 4.0, 1.0)
    assert not of.newest_load.any()
    posed = problem(of)
    with np.errstate(invalid="raise"):
        refined = refine(posed, np.zeros(of.vertices, np.int32))
    assert (posed.loads(refined) <= posed.capacity[:, None] * (1 + 1e-6)).all()


@given(st.integers(0, 1000), st.sampled_from([(0, 1, 2, 3), (0, 1, 0, 1)]))
def test_a_feasible_assignment_never_gets_worse(seed: int, parts: tuple[int, ...]) -> None:
    posed = problem(graph(3, rows=300), alpha=1.2, parts=parts)
    start = np.random.default_rng(seed).integers(0, PARTITIONS, posed.graph.vertices)
    feasible = refine(posed, start.astype(np.int32))
    assert posed.worth(refine(posed, feasible)) >= posed.worth(feasible) - 1e-9


def test_keys_take_a_partition_of_their_part_and_stay_where_there_is_room() -> None:
    of = graph()
    parts = np.array([0, 1, 0, 1], np.int32)
    wanted = np.random.default_rng(5).integers(-1, 2, of.vertices).astype(np.int32)
    anywhere = settle(problem(of, parts=parts.tolist()), wanted)
    assert (anywhere[wanted < 0] == -1).all()
    assert (parts[anywhere[wanted >= 0]] == wanted[wanted >= 0]).all()
    # Evenly, as longest first does it.
    loads = problem(of, parts=parts.tolist()).loads(anywhere)[:, :, 0]
    for part in (0, 1):
        own = loads[:, parts == part]
        assert (own.max(axis=1) < 1.03 * own.mean(axis=1)).all()
    # Partitions of their parts by chance, with room for all: they stay.
    chance = np.random.default_rng(6).integers(0, 2, of.vertices) * 2
    home = np.where(wanted < 0, -1, wanted + chance).astype(np.int32)
    assert settle(pose(of, parts, 3.0, home, 0.03), wanted).tolist() == home.tolist()
    # All in one partition of their part, without room: the others of the part take some.
    full = pose(of, parts, 1.03, wanted, 0.03)
    moved = full.loads(settle(full, wanted)) <= full.capacity[:, None] * (1 + 1e-6)
    assert moved[:, :2].all()
    assert not (full.loads(wanted) <= full.capacity[:, None]).all()


def test_the_given_assignment_is_left_alone() -> None:
    posed = problem(graph())
    start = np.zeros(posed.graph.vertices, np.int32)
    refine(posed, start)
    assert not start.any()


def test_a_key_stays_home_where_moving_it_brings_less_than_it_costs() -> None:
    of = graph()
    placed = refine(problem(of), np.full(of.vertices, -1, np.int32))
    home = placed.copy()
    stuck = pose(of, np.arange(PARTITIONS, dtype=np.int32), 1.03, home, move_cost=10.0)
    assert refine(stuck, home).tolist() == home.tolist()


@pytest.mark.parametrize(("pull", "after"), [(1.0, [1, 0]), (20.0, [0, 1])])
def test_keys_trade_places_where_neither_has_room_and_both_together_gain(
    pull: float, after: list[int]
) -> None:
    at = np.array([0, 1], np.int32)
    loads = np.ones((2, 1))
    pulls = np.array([[0.0, 10.0], [0.0, pull]])
    order = np.array([0], np.int64)
    state = (at, np.ones((2, 1)), pulls, loads, np.ones(1))
    passes.improve(order, *state)
    assert at.tolist() == [0, 1]
    passes.exchange(order, *state)
    assert (at.tolist(), loads.tolist()) == (after, [[1.0], [1.0]])


def test_keys_of_a_partition_are_the_same_with_and_without_a_compiler() -> None:
    at = np.array([2, -1, 0, 2, 1, 2], np.int32)
    for partition, keys in ((2, [0, 3, 5]), (0, [2]), (3, [])):
        assert passes.keys_in_a_loop(partition, at).tolist() == keys
        assert passes.keys_at_once(partition, at).tolist() == keys
        assert passes.keys_of(partition, at).tolist() == keys


@pytest.mark.skipif(not COMPILES, reason="there is no compiler")
def test_keys_that_are_worth_the_same_trade_places_the_same_with_and_without_a_compiler() -> None:
    rng = np.random.default_rng(5)
    # Few values, so that nearly all keys tie.
    pull = rng.integers(0, 3, (400, PARTITIONS)).astype(float)
    load = np.ones((400, 2))
    start = rng.integers(0, PARTITIONS, 400).astype(np.int32)
    full = np.stack([np.bincount(start, of, PARTITIONS) for of in load.T], axis=1)

    def traded(exchange: Any) -> list[int]:
        at = start.copy()
        exchange(np.arange(400), at, load, pull, full.copy(), full.max(axis=0))
        return at.tolist()

    compiled: Any = passes.exchange
    assert traded(compiled) == traded(compiled.py_func) != start.tolist()


def test_a_heavy_key_that_fits_nowhere_makes_light_ones_give_way() -> None:
    ids = np.repeat(np.arange(6), [300, 300, 100, 100, 100, 100])
    period = streams.count((ids, ids), n=3)
    of = build(tuple(g.shape for g in period.groups), [period], 4.0, 1.0)
    posed = pose(of, np.arange(3, dtype=np.int32), 1.2, np.full(of.vertices, -1, np.int32), 0.0)
    heavy_together = np.empty(of.vertices, np.int32)
    for index in (0, 1):
        members = of.members(index)
        heavy = np.flatnonzero(of.load[members] == 300)
        at = np.zeros(6, np.int32)
        light = np.setdiff1d(np.arange(6), heavy)
        at[light] = [1, 1, 2, 2]
        heavy_together[members] = at
    assert (posed.loads(heavy_together) > posed.capacity[:, None]).any()
    refined = refine(posed, heavy_together)
    assert (posed.loads(refined) <= posed.capacity[:, None] * (1 + 1e-6)).all()
