"""The rivals behind the interface of planners."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from baselines.cola import plan_cola, spread
from baselines.first_sight import keys_of
from baselines.flux import diminish, plan_flux
from baselines.greedy import plan_off_greedy, plan_on_greedy
from baselines.round_robin import plan_round_robin
from baselines.static_potc import plan_static_potc
from papers.operators import Operators
from scipy.sparse import csr_array

from keyroute.core.plan import CannotPlan, Plan, PlanRequest, PlanSettings
from keyroute.core.statistics import imbalance

ALL = (plan_cola, plan_flux, plan_off_greedy, plan_on_greedy, plan_round_robin, plan_static_potc)
FIRST_SIGHT = (plan_on_greedy, plan_round_robin, plan_static_potc)
Planner = Callable[[PlanRequest], Plan]


@pytest.mark.parametrize("planner", ALL)
def test_predictions_are_what_the_rows_then_show(
    planner: Planner, operators: Operators, request_of: PlanRequest
) -> None:
    plan = planner(request_of)
    tables = plan.tables(1, request_of.query_id)
    loads = operators.loads(tables, 3_000, 6_000)
    assert [imbalance(of) for of in loads] == pytest.approx(list(plan.predicted_imbalance.values()))
    up, down = operators.partitions(tables, 3_000, 6_000)
    assert (up == down).mean() == pytest.approx(plan.predicted_locality)
    assert plan.groups == planner(request_of).groups


@pytest.mark.parametrize("planner", ALL)
def test_options_that_they_do_not_have_are_refused(
    planner: Planner, request_of: PlanRequest
) -> None:
    settings = PlanSettings(options={"nonsense": 1.0})
    with pytest.raises(CannotPlan, match="nonsense"):
        planner(replace(request_of, settings=settings))


@pytest.mark.parametrize("planner", FIRST_SIGHT)
def test_keys_stay_where_they_were_put(planner: Planner, request_of: PlanRequest) -> None:
    first = planner(replace(request_of, periods=request_of.periods[:1]))
    again = planner(replace(request_of, current=first.tables(1, request_of.query_id)))
    for before, after in zip(first.groups, again.groups, strict=True):
        assert np.array_equal(after.explicit(before.fingerprints), before.targets)
    assert again.groups[0].entries > first.groups[0].entries


def test_round_robin_deals_keys(request_of: PlanRequest) -> None:
    for table in plan_round_robin(request_of).groups:
        counts = np.bincount(table.targets, minlength=table.shape.partitions)
        assert counts.max() - counts.min() <= 1


def test_off_greedy_is_within_its_bound(operators: Operators, request_of: PlanRequest) -> None:
    plan = plan_off_greedy(request_of)
    tables = plan.tables(1, request_of.query_id)
    for shape, loads in zip(operators.shapes, operators.loads(tables, 0, 6_000), strict=True):
        largest = keys_of(request_of, shape).rows.max()
        least = max(largest, 6_000 / shape.partitions)
        assert loads.max() <= least * (4 / 3)


def test_static_potc_gives_each_key_one_of_two(request_of: PlanRequest) -> None:
    from baselines.choices import choice

    for table in plan_static_potc(request_of).groups:
        n = table.shape.partitions
        allowed = np.stack([choice(table.fingerprints, seed, n) for seed in (0, 1)])
        assert (allowed == table.targets).any(axis=0).all()


def test_flux_pairs_the_fullest_with_the_emptiest() -> None:
    rows = np.array([5.0, 3.0, 2.0, 4.0, 1.0, 1.0])
    home = np.array([0, 0, 0, 1, 2, 3], np.int32)
    # Loads 10, 4, 1, 1: from 0 to the last emptiest what is nearest to 4.5, and from 1 to 2 nothing
    # that is below 3.
    at = diminish(rows, home, 4, moves=1)
    assert at.tolist() == [3, 0, 0, 1, 2, 3]
    assert (diminish(rows, home, 4, moves=2) != home).sum() == 2


def test_flux_keeps_its_budget(request_of: PlanRequest) -> None:
    settings = PlanSettings(options={"moves": 5.0})
    plan = plan_flux(replace(request_of, settings=settings))
    moved = sum(
        int((t.owners() != np.arange(t.shape.slots) % t.shape.partitions).sum())
        for t in plan.groups
    )
    assert 0 < moved <= 5


def test_cola_cuts_the_cheapest_way() -> None:
    # Two cliques of three with one weak tie: two workers, one clique each.
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    weights = [9, 9, 9, 9, 9, 9, 1]
    a, b = np.array(pairs).T
    one = csr_array((np.array(weights, float), (a, b)), shape=(6, 6))
    at = spread(np.full(6, 10.0), one + one.T, 2, alpha=1.03, seed=1)
    assert len(set(at[:3].tolist())) == len(set(at[3:].tolist())) == 1
    assert at[0] != at[3]


def test_cola_brings_more_locality_than_hash(request_of: PlanRequest) -> None:
    assert plan_cola(request_of).predicted_locality > 0.5
