"""The half-life: long where partners last, short where they change."""

from __future__ import annotations

import math

import numpy as np
import pytest

import streams
from keyroute.core.graph import history
from keyroute.planners import backtest
from keyroute.planners.backtest import best_half_life

HALF_LIVES = (0.0, 1.0, 4.0, math.inf)
KEYS = 200
N = 4


def periods(redrawn: float, rows: int, count: int = 10) -> list[tuple[streams.Ids, streams.Ids]]:
    """Key i goes with its partner; each period that share of the keys gets another one."""
    rng = np.random.default_rng(5)
    partner = rng.permutation(KEYS)
    made = []
    for _ in range(count):
        partner = np.where(rng.random(KEYS) < redrawn, rng.integers(0, KEYS, KEYS), partner)
        ids = rng.integers(0, KEYS, rows)
        noise = rng.random(rows) < 0.5
        made.append((ids, np.where(noise, rng.integers(0, KEYS, rows), partner[ids])))
    return made


@pytest.mark.parametrize(
    ("redrawn", "rows", "wanted"), [(0.0, 600, (4.0, math.inf)), (0.5, 8000, (0.0,))]
)
def test_history_counts_as_long_as_it_foretells(
    redrawn: float, rows: int, wanted: tuple[float, ...]
) -> None:
    counted = [streams.count(columns) for columns in periods(redrawn, rows)]
    known = history((streams.shape(0), streams.shape(1)), counted)
    at = (np.arange(len(known.group)) % N).astype(np.int32)
    assert best_half_life(known, HALF_LIVES, at, N, 1.0) in wanted


@pytest.mark.parametrize(("kept", "somewhere"), [(1, 0), (3, -1)])
def test_where_nothing_can_be_foretold_the_half_life_is_the_settings_own(
    kept: int, somewhere: int
) -> None:
    counted = [streams.count(columns) for columns in periods(0.0, 100)[:kept]]
    known = history((streams.shape(0), streams.shape(1)), counted)
    at = np.full(len(known.group), somewhere, np.int32)
    assert best_half_life(known, HALF_LIVES, at, N, 4.0) == 4.0


def test_the_loops_give_what_is_computed_at_once() -> None:
    rng = np.random.default_rng(7)
    at = rng.integers(-1, N, KEYS).astype(np.int32)
    pulls = np.zeros((2, 4, KEYS, N))
    for period in range(4):
        low, high = (rng.integers(0, KEYS, 300).astype(np.int32) for _ in range(2))
        rows = rng.integers(1, 9, 300).astype(np.float64)
        backtest.add_pairs(low, high, rows, at, pulls[0, period])
        backtest.add_pairs_at_once(low, high, rows, at, pulls[1, period])
    assert (pulls[0] == pulls[1]).all()
    fades = np.array([0.0, 0.5, 0.84, 1.0])
    followed = backtest.foretold(pulls[0], fades)
    assert followed.shape == (4, 3)
    assert (followed > 0).all()
    assert (followed == backtest.foretold_at_once(pulls[0], fades)).all()
