"""LPT against the best schedule there is, by trying all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keyroute.core.graph import FloatArray
from keyroute.planners.scheduling import even_out, level, loads_of, longest_first, stay_below

SIZES = st.lists(st.integers(0, 40), min_size=1, max_size=7).map(lambda x: np.array(x, float))


def optimum(sizes: FloatArray, n: int) -> float:
    return min(
        float(np.bincount(at, sizes, n).max())
        for at in itertools.product(range(n), repeat=len(sizes))
    )


@settings(deadline=None, max_examples=60)
@given(SIZES, st.integers(2, 3))
def test_the_longest_first_is_within_grahams_bound(sizes: FloatArray, n: int) -> None:
    base = np.zeros(n)
    worst = float(loads_of(sizes, base, longest_first(sizes, base)).max())
    assert worst <= (4 / 3 - 1 / (3 * n)) * optimum(sizes, n) + 1e-9


@settings(deadline=None, max_examples=60)
@given(SIZES, st.integers(2, 3))
def test_no_schedule_is_below_the_level_or_a_hot_item(sizes: FloatArray, n: int) -> None:
    best = level(sizes, np.zeros(n))
    assert optimum(sizes, n) >= max(best.mean, float(sizes.max())) - 1e-9
    assert all(sizes[item] > best.mean for item in best.hot)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.floats(0, 0.5))
def test_items_stay_at_home_within_the_bound(seed: int, n: int, slack: float) -> None:
    rng = np.random.default_rng(seed)
    sizes, base = rng.pareto(1.0, 30), rng.random(n) * rng.integers(0, 2)
    home = rng.integers(-1, n, 30).astype(np.int32)
    best = level(sizes, base)
    at = stay_below(sizes, base, home, best, slack)
    loads = loads_of(sizes, base, at)
    assert len(set(at[best.hot])) == len(best.hot)
    alone = at[best.hot]
    assert np.bincount(at, minlength=n)[alone].max(initial=1) == 1
    # What left home has filled nothing above the bound but by its own size.
    others = np.setdiff1d(np.arange(n), alone)
    left = np.setdiff1d(np.flatnonzero(at != home), best.hot)
    slackest = best.mean * (1 + slack)
    assert loads[others].max() <= max(slackest, best.mean + sizes[left].max(initial=0)) + 1e-9


def test_who_fits_does_not_move() -> None:
    sizes, home = np.array([5.0, 3.0, 3.0, 2.0]), np.array([1, 0, 0, 1], np.int32)
    best = level(sizes, np.zeros(2))
    assert stay_below(sizes, np.zeros(2), home, best, 0.1).tolist() == home.tolist()
    assert best.mean == pytest.approx(6.5)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_the_fullest_gives_until_the_goal(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, base = rng.pareto(1.5, 60), np.zeros(n)
    best = level(sizes, base)
    before = stay_below(sizes, base, rng.integers(0, n, 60).astype(np.int32), best, 0.3)
    after = even_out(sizes, base, before, best, best.mean * 1.05)
    assert after[best.hot].tolist() == before[best.hot].tolist()
    others = np.setdiff1d(np.arange(n), before[best.hot])
    old, new = (loads_of(sizes, base, at)[others].max() for at in (before, after))
    assert new <= old + 1e-9
    assert np.isin(np.delete(after, best.hot), others).all()
    if old <= best.mean * 1.05:
        assert after.tolist() == before.tolist()


def test_a_swap_is_made_where_no_item_can_be_given() -> None:
    sizes, at = np.array([6.0, 4.0, 5.0, 3.0]), np.array([0, 0, 1, 1], np.int32)
    even = even_out(sizes, np.zeros(2), at, level(sizes, np.zeros(2)), 9.0)
    assert loads_of(sizes, np.zeros(2), even).tolist() == [9, 9]
