"""ALBIC's program against the best of all assignments, on tiny cases."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyroute.core.table import Int32Array
from keyroute.planners.albic_greedy import descend
from keyroute.planners.albic_milp import REL_GAP, W2, objective, solve
from keyroute.planners.albic_model import Model
from keyroute.planners.albic_units import Units, units

NONE_KEPT = 1e-9
"""Precision: the load distance itself counts."""


def model(
    seed: int, nodes: int, groups: int, each: int, leaving: int = 0, like: str = "rows"
) -> Model:
    rng = np.random.default_rng(seed)
    size = groups * each
    rows = rng.integers(1, 20, size).astype(float)
    group = np.repeat(np.arange(groups), each)
    marked = np.arange(nodes) < leaving
    mean = np.bincount(group, rows) / (nodes - leaving)
    cost = rows if like == "rows" else rng.random(size)
    return Model(
        group=group,
        groups=groups,
        load=rows / mean[group],
        cost=cost / np.bincount(group, cost)[group],
        home=rng.integers(0, nodes, size).astype(np.int32),
        leaving=marked,
        hot=np.zeros(size, bool),
        alone=np.zeros((nodes, groups), bool),
        starts=np.arange(groups + 1) * each,
        pins={},
    )


def single(of: Model, pins: dict[int, int] | None = None) -> Units:
    """Each key group is a unit of its own."""
    return units(of, np.arange(len(of.load)), pins or {})


def assignments(of: Model, unit: Units, budget: float) -> Iterator[Int32Array]:
    """All that follow the pins, are in the budget and are in the reach of constraint (5)."""
    most = max(1.0, of.distance(of.home), float((of.loads(of.home) - 1).max()))
    for each in itertools.product(range(of.nodes), repeat=len(unit.home)):
        at = np.array(each, np.int32)
        moved = unit.cost[at != unit.home].sum(axis=0)
        pinned = unit.pinned >= 0
        if (moved > budget + 1e-12).any() or (at[pinned] != unit.pinned[pinned]).any():
            continue
        over = float((of.loads(unit.spread(of, at)) - 1).max())
        if max(over, of.distance(unit.spread(of, at))) <= most + 1e-9:
            yield at


@settings(deadline=None, max_examples=20)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(2, 1, 7), (3, 1, 6), (2, 2, 4)]),
    st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    st.sampled_from(["rows", "state"]),
    st.booleans(),
)
def test_it_is_the_best_there_is(
    seed: int, size: tuple[int, int, int], budget: float, like: str, leaves: bool
) -> None:
    posed = model(seed, *size, leaving=int(leaves), like=like)
    unit = single(posed)
    # Nodes to be emptied have an upper bound in the program only.
    best = min(
        max(objective(posed, unit, at, NONE_KEPT), _bounded(posed, unit, at))
        for at in assignments(posed, unit, budget)
    )
    found = solve(posed, unit, budget, 20.0, precision=NONE_KEPT)
    assert found is not None
    got = max(found.objective, _bounded(posed, unit, found.at))
    assert got <= best * (1 + REL_GAP) + 4 * W2
    assert (unit.cost[found.at != unit.home].sum(axis=0) <= budget + 1e-6).all()


def _bounded(posed: Model, unit: Units, at: Int32Array) -> float:
    """The program's objective, whose d is also that of nodes to be emptied."""
    spread = unit.spread(posed, at)
    over = float((posed.loads(spread) - 1).max())
    value = objective(posed, unit, at, NONE_KEPT)
    return value - posed.distance(spread) + max(posed.distance(spread), over)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.integers(1, 3),
    st.floats(0, 1),
    st.integers(0, 1),
)
def test_descent_keeps_the_budget_and_does_not_worsen(
    seed: int, nodes: int, groups: int, budget: float, leaving: int
) -> None:
    posed = model(seed, nodes, groups, 20, leaving)
    unit = single(posed)
    at = descend(posed, unit, budget, 0.0)
    assert (unit.cost[at != unit.home].sum(axis=0) <= budget + 1e-9).all()
    squares = [
        float(((posed.loads(unit.spread(posed, a)) - posed.counted) ** 2).sum())
        for a in (unit.home, at)
    ]
    assert squares[1] <= squares[0] + 1e-9 or leaving
    if budget == 1 and leaving:
        assert (at >= leaving).all()


def test_descent_swaps_where_no_single_move_helps() -> None:
    posed = model(1, 2, 1, 4)
    rows = np.array([6.0, 4.0, 5.0, 3.0])
    posed = Model(
        group=posed.group,
        load=rows / 9,
        cost=rows / 18,
        home=np.array([0, 0, 1, 1], np.int32),
        leaving=posed.leaving,
        hot=posed.hot,
        alone=posed.alone,
        groups=posed.groups,
        starts=posed.starts,
        pins={},
    )
    unit = single(posed)
    assert posed.distance(unit.spread(posed, descend(posed, unit, 1.0, 0.0))) == pytest.approx(0)
    # A swap of 6 and 5, or of 4 and 3, costs 11/18 or 7/18.
    cheap = descend(posed, unit, 0.4, 0.0)
    assert posed.distance(unit.spread(posed, cheap)) == pytest.approx(0)
    assert descend(posed, unit, 0.3, 0.0).tolist() == [0, 0, 1, 1]


def test_pins_are_followed() -> None:
    posed = model(3, 3, 1, 6)
    unit = single(posed, {0: 2, 4: 1})
    for at in (descend(posed, unit, 1.0, 0.0), _at(posed, unit)):
        spread = unit.spread(posed, at)
        assert (spread[0], spread[4]) == (2, 1)


def test_no_plan_where_a_pin_is_above_the_budget() -> None:
    posed = model(3, 3, 1, 6)
    other = (int(posed.home[0]) + 1) % 3
    assert solve(posed, single(posed, {0: other}), 0.0, 5.0) is None


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(50, 400))
def test_bundles_lose_nothing(seed: int, nodes: int, each: int) -> None:
    posed = model(seed, nodes, 2, each)
    piece = np.full(len(posed.load), -1, np.int64)
    piece[:5] = 0
    posed.home[:5] = posed.home[0]
    bundled = units(posed, piece, {})
    assert (bundled.of >= 0).all()
    assert bundled.load.sum(axis=0) == pytest.approx(np.bincount(posed.group, posed.load))
    assert bundled.spread(posed, bundled.home).tolist() == posed.home.tolist()
    assert len(set(bundled.of[:5])) == 1
    assert posed.nodes * len(bundled.home) <= 6_000 + posed.nodes * posed.nodes * 8


def _at(posed: Model, unit: Units) -> Int32Array:
    found = solve(posed, unit, 1.0, 10.0)
    assert found is not None
    return found.at
