"""NEXMark's bids, and the queues that they go through."""

from dataclasses import replace

import numpy as np
import pytest
from papers import nexmark, queues
from papers.nexmark import Skew, bids, skewed_bids
from papers.operators import one_operator

from keyroute.core.plan import PlanSettings
from keyroute.core.table import GroupTable
from keyroute.planners.autoflow import plan_autoflow


def test_the_usual_stream_is_as_described() -> None:
    made = bids(46_000, 1_000, seed=1)
    newest = nexmark.newest_auction(46_000)
    # 3 auctions for 46 bids, all bids for auctions in flight, every other for the hot one.
    assert newest[-1] - newest[0] == pytest.approx(3_000, abs=1)
    assert ((made.auction <= newest) & (newest - made.auction < nexmark.IN_FLIGHT)).all()
    assert (made.auction % nexmark.HOT_EVERY == 0).mean() == pytest.approx(0.505, abs=0.01)
    assert made.price.min() >= 100
    assert made.price.max() < 10**8
    assert np.median(made.price) == pytest.approx(100_000, rel=0.05)
    assert made.time_s[-1] == pytest.approx(46, abs=0.1)


def test_the_same_seed_makes_the_same_bids() -> None:
    one, other, third = (bids(5_000, 100, seed) for seed in (3, 3, 4))
    assert np.array_equal(one.auction, other.auction)
    assert np.array_equal(one.price, other.price)
    assert not np.array_equal(one.auction, third.auction)


def test_skews_hold_while_they_last() -> None:
    count = 30_000
    owner = np.random.default_rng(1).integers(0, 3, count).astype(np.int32)
    skews = (Skew(10, 20, 0.8, (1,)), Skew(20, 30, 0.6, (0, 2)))
    made = skewed_bids(count, 1_000, 5, owner, skews)
    share = [
        np.bincount(owner[made.auction[a : a + 10_000]], minlength=3) / 10_000
        for a in (0, 10_000, 20_000)
    ]
    assert share[0] == pytest.approx([1 / 3] * 3, abs=0.06)
    assert share[1][1] == pytest.approx(0.8, abs=0.015)
    assert share[2][1] == pytest.approx(0.4, abs=0.015)


def test_queues_lose_nothing_and_take_no_more_than_they_can() -> None:
    codes = np.random.default_rng(2).integers(0, 50, 6_000)
    stream = one_operator(codes, 3)
    course = queues.run(stream, 1_000, 300, None, PlanSettings())
    done = np.array(course.done) * queues.TICK_S
    left = np.array(course.latency_s[-1]) * 300
    assert done.sum() + left.sum() == pytest.approx(6_000)
    assert done.max() <= 300 * queues.TICK_S * (1 + 1e-9)
    assert course.moved == 0


def test_autoflow_takes_the_latency_of_a_hot_reducer_away() -> None:
    stream = one_operator(np.arange(400), 3, 48)
    key, shape = stream.keys[0], stream.shapes[0]
    owner = GroupTable(shape, np.empty(0, np.int64), np.empty(0, np.int32)).route(*key.hashes)
    rng = np.random.default_rng(4)
    hot = rng.random(20_000) < 0.6
    codes = np.where(
        hot,
        rng.choice(np.flatnonzero(owner == 1), 20_000),
        rng.choice(np.flatnonzero(owner != 1), 20_000),
    )
    stream = replace(stream, codes=(codes,))
    without, with_it = (
        queues.run(stream, 1_000, 430, planner, PlanSettings()).as_dict()
        for planner in (None, plan_autoflow)
    )
    assert without["end_s"] > 5
    assert with_it["end_s"] < 0.1
    assert with_it["moved_slots"] > 0
