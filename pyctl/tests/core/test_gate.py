"""The gate over whole streams, what a move costs, and hysteresis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay, decide
from keyroute.core.gain_error import gain_error
from keyroute.core.plan import Plan, PlanRequest, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import GroupTable, RoutingTables, no_tables
from keyroute.core.worth import rows_to_move
from keyroute.planners.metis import plan_metis

SHAPES = (streams.shape(0), streams.shape(1))
# Each period is one that is planned after.
EACH = DecisionSettings(min_rows=1, holdout_rows=1)
HISTORY = 4
QUICK = PlanSettings(seeds=2)
Columns = tuple[streams.Ids, streams.Ids]


def redrawn(seed: int, keys: int = 150, rows: int = 4000) -> Columns:
    """Every key has one partner, another in each period; loads stay as they are."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, keys, rows)
    return first, rng.permutation(keys)[first]


def played(of_period: Callable[[int], Columns], periods: int) -> list[Decision]:
    """A stream, decided on after each period, under the tables that the decisions bring."""
    tables = no_tables("q")
    counted: list[Period] = []
    decisions: list[Decision] = []
    for number in range(periods):
        counted = [*counted, streams.count(of_period(number), tables)][-HISTORY:]
        request = PlanRequest("q", SHAPES, tuple(counted), tables, settings=QUICK)
        decision = decide(plan_metis, request, EACH, None)
        if number:  # the first period has nothing to be judged by
            decisions.append(decision)
        if isinstance(decision, Move):
            tables = decision.plan.tables(number, "q")
    return decisions


def test_where_nothing_carries_over_it_refuses_nearly_always() -> None:
    tempting = streams.count(redrawn(0))
    plan = plan_metis(PlanRequest("q", SHAPES, (tempting,), no_tables("q")))
    assert plan.predicted_locality > 0.95
    decisions = played(redrawn, 41)
    refused = sum(isinstance(decision, Stay) for decision in decisions)
    assert refused >= 0.95 * len(decisions), [d.reason for d in decisions]


def test_a_gain_is_as_sure_as_its_pairs_are_many() -> None:
    ids = np.arange(600, dtype=np.int64)
    for keys in (60, 600):
        one = np.repeat(ids[:keys], 6000 // keys)
        period = streams.count((one, one))
        # One pair in three is lost, the others stay as they are.
        error = gain_error(_alike(1, keys // 3), _alike(2, 2 * keys // 3), [period])
        halves = gain_error(_alike(1, keys // 3), _alike(2, 2 * keys // 3), [period, period])
        assert error == pytest.approx(np.sqrt(2 / 9 / keys), rel=0.01)
        # The same pairs again are no more of a sample.
        assert halves == pytest.approx(error)


def test_no_gain_is_sure_where_no_pair_is() -> None:
    ids = np.arange(60, dtype=np.int64)
    period = streams.count((ids, ids))
    (edge,) = period.edges
    unsure = replace(edge, pairs=replace(edge.pairs, errors=edge.pairs.counts))
    assert gain_error(_alike(1, 20), _alike(2, 40), [replace(period, edges=(unsure,))]) == np.inf
    assert gain_error(_alike(1, 20), _alike(2, 40), [replace(period, edges=())]) == 0.0


def test_what_carries_over_is_taken_once_and_kept() -> None:
    decisions = played(lambda period: streams.correlated(period, 4000), 12)
    assert isinstance(decisions[0], Move)
    assert decisions[0].outlook is not None
    assert decisions[0].outlook.gain > 0.4
    assert all(isinstance(decision, Stay) for decision in decisions[1:])


def test_what_is_renewed_now_and_then_is_followed() -> None:
    def renewed(period: int) -> Columns:
        return redrawn(period // 4)

    decisions = played(renewed, 12)
    moves = [number for number, d in enumerate(decisions, 1) if isinstance(d, Move)]
    # Once the new partners have been seen in two periods: one to plan from, one to judge by.
    assert moves == [1, 5, 9]


def _with_state(period: Period, rows: int) -> Period:
    groups = [
        replace(g, slot_state_rows=np.full(g.shape.slots, rows // g.shape.slots))
        for g in period.groups
    ]
    return replace(period, groups=tuple(groups))


def _without_keys(period: Period) -> Period:
    """Its first group alone, of which only slots were counted."""
    group, nothing = period.groups[0], np.empty(0, np.int64)
    keys = replace(group.keys, fingerprints=nothing, counts=nothing, errors=nothing)
    return replace(period, groups=(replace(group, keys=keys),), edges=())


def test_a_move_must_make_good_its_rows_within_the_horizon() -> None:
    periods = tuple(streams.count(streams.correlated(seed, 25_000)) for seed in (1, 2))
    heavy = tuple(_with_state(p, 10_000_000) for p in periods)
    asked = PlanRequest("q", SHAPES, heavy, no_tables("q"))
    settings = DecisionSettings(horizon_rows=1_000_000)
    dear = decide(plan_metis, asked, settings, None)
    assert isinstance(dear, Stay)
    assert "within the next 1,000,000 rows, and moving " in dear.reason
    # The same with time enough, and with little state, is worth it.
    later = decide(plan_metis, asked, replace(settings, horizon_rows=1e9), None)
    assert isinstance(later, Move)
    assert 10_000_000 < later.rows_to_move < 20_000_000
    light = decide(plan_metis, replace(asked, periods=periods), settings, None)
    assert isinstance(light, Move)
    assert 0 < light.rows_to_move <= 600


def test_state_that_moves_is_that_of_keys_or_of_slots() -> None:
    (period,) = (_with_state(streams.count(streams.correlated(1, 25_000)), 1026 * 50),)
    table = no_tables("q").group(SHAPES[0])
    owners = table.owners().copy()
    owners[:100] = (owners[:100] + 1) % 3
    slots = RoutingTables(1, "q", (replace(table, slot_owners=owners),))
    # Without slots of keys nothing says which of the counted keys are in the moved slots.
    assert rows_to_move(no_tables("q"), slots, [_without_keys(period)]) == 100 * 50
    assert rows_to_move(slots, slots, [period]) == 0


def test_a_partition_that_another_part_takes_over_moves_its_state() -> None:
    (period,) = (_with_state(streams.count(streams.correlated(1, 25_000)), 1026 * 50),)
    together = replace(no_tables("q"), parts=(0, 1, 1))
    # Partition 2 of both groups, a third of the slots, is with partition 1 from now on.
    assert rows_to_move(no_tables("q"), together, [period]) == 2 * 342 * 50
    assert rows_to_move(together, together, [period]) == 0
    assert rows_to_move(no_tables("q"), replace(together, parts=(0, 1, 2)), [period]) == 0
    # A slot that goes to another partition is handed off, wherever that is, and counts once.
    table = no_tables("q").group(SHAPES[0])
    owners = np.where(table.owners() == 1, 2, table.owners()).astype(np.int32)
    moved = replace(together, groups=(replace(table, slot_owners=owners),))
    assert rows_to_move(no_tables("q"), moved, [_without_keys(period)]) == 2 * 342 * 50


def _alike(version: int, displaced: int) -> RoutingTables:
    """Key i of both groups on partition i mod 3, but for the first of the second group."""
    ids = np.arange(1000, dtype=np.int64)
    groups = []
    for group, moved in ((0, 0), (1, displaced)):
        prints = streams.fingerprints(group, ids)
        order = np.argsort(prints)
        targets = ((ids + (ids < moved)) % 3).astype(np.int32)
        groups.append(GroupTable(streams.shape(group), prints[order], targets[order]))
    return RoutingTables(version, "q", tuple(groups))


@pytest.mark.parametrize(("under", "needed"), [(1, 0.075), (1.5, 0.0625), (2, 0.05), (3, 0.05)])
def test_right_after_a_change_the_next_must_gain_more(under: float, needed: float) -> None:
    perfect = _alike(0, 0)

    def planner(_: PlanRequest) -> Plan:
        return Plan(perfect.groups, (), 1.0, {}, 0.1, 1, "a test's")

    for gain, kind in ((needed + 0.002, Move), (needed - 0.002, Stay)):
        in_force = _alike(1, round(1000 * gain))
        same = np.tile(np.arange(1000, dtype=np.int64), 4)
        before = streams.count((same, same))
        now = streams.count((np.tile(same, round(2 * under)),) * 2, in_force)
        settings = DecisionSettings(min_rows=8000, holdout_rows=1)
        decision = decide(
            planner, PlanRequest("q", SHAPES, (before, now), in_force), settings, None
        )
        assert decision.outlook is not None
        assert decision.outlook.gain == pytest.approx(round(1000 * gain) / 1000)
        assert decision.outlook.needed == pytest.approx(needed)
        assert isinstance(decision, kind), decision.reason
