"""The budget of moves is kept, by the moves that bring least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute import planners
from keyroute.core.plan import PlanRequest, PlanSettings
from keyroute.core.table import RoutingTables, no_tables

SHAPES = (streams.shape(0), streams.shape(1))


def plan_table(request: PlanRequest) -> RoutingTables:
    return planners.load("metis")(request).tables(1, "q")


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
def test_no_group_moves_more_of_its_rows(share: float) -> None:
    old, new = streams.correlated(1, 20_000), streams.correlated(2, 20_000, clusters=20)
    current = plan_table(PlanRequest("q", SHAPES, (streams.count(old),), no_tables("q")))
    request = PlanRequest("q", SHAPES, (streams.count(new),), current)
    free = plan_table(request)
    held = plan_table(replace(request, settings=PlanSettings(max_moved=share)))
    for group, ids in enumerate(new):
        prints = streams.fingerprints(group, ids)
        before, after, wanted = (
            t.group(SHAPES[group]).explicit(prints) for t in (current, held, free)
        )
        assert (before != wanted).mean() > 0.1
        assert (before != after).mean() <= share
        assert (before != after).mean() >= 0.5 * share


def test_a_first_plan_keeps_the_budget_by_where_slots_put_its_keys() -> None:
    rows = streams.correlated(2, 20_000, clusters=20)
    request = PlanRequest("q", tuple(streams.shape(g, 2) for g in (0, 1)), (), no_tables("q"))
    asked = replace(request, periods=(streams.count(rows, n=2),))
    held = plan_table(replace(asked, settings=PlanSettings(max_moved=0.1)))
    for group, ids in enumerate(rows):
        prints, murmur = streams.fingerprints(group, ids), streams.hashes(group, ids)
        before, after = (
            t.group(streams.shape(group, 2)).route(murmur, prints) for t in (no_tables("q"), held)
        )
        # An entry moves a key every other time: charged for half of each, twice as many would.
        assert 0.08 < (before != after).mean() <= 0.1


def test_a_plan_that_may_move_nothing_says_what_hash_brings() -> None:
    rows = streams.correlated(2, 20_000, clusters=20)
    request = PlanRequest("q", SHAPES, (streams.count(rows),), no_tables("q"))
    plan = planners.load("metis")(replace(request, settings=PlanSettings(max_moved=0.0)))
    locality, imbalance = streams.measure(no_tables("q"), rows)
    assert "puts 0.0% of the pairs' rows together" in plan.why
    assert plan.predicted_locality == pytest.approx(locality)
    assert plan.worst_imbalance == pytest.approx(imbalance)
    assert (plan.moved_keys, plan.moved_weight) == (0, 0.0)


def test_what_is_kept_brings_more_than_a_share_of_the_whole() -> None:
    rows = streams.correlated(2, 20_000, clusters=20)
    request = PlanRequest("q", SHAPES, (streams.count(rows),), no_tables("q"))
    half = plan_table(replace(request, settings=PlanSettings(max_moved=0.4)))
    nothing, _ = streams.measure(no_tables("q"), rows)
    some, _ = streams.measure(half, rows)
    assert some > nothing + 0.05
    assert all(len(np.unique(g.targets)) == 3 for g in half.groups)
