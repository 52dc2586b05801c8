"""The gate: when a plan is worth its moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay, decide
from keyroute.core.plan import CannotPlan, Plan, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, no_tables
from keyroute.planners.hash import plan_hash
from keyroute.planners.metis import plan_metis

SETTINGS = DecisionSettings()
NO_TABLES = no_tables("q")


def period(seed: int, tables: RoutingTables = NO_TABLES, rows: int = 25_000) -> Period:
    return streams.count(streams.correlated(seed, rows), tables)


def request(*periods: Period, current: RoutingTables = NO_TABLES) -> PlanRequest:
    return PlanRequest("q", (streams.shape(0), streams.shape(1)), periods, current)


def decided(req: PlanRequest, since_ms: int | None = None, **changes: float) -> Decision:
    return decide(plan_metis, req, replace(SETTINGS, **changes), since_ms)


FIRST = plan_metis(request(period(1), period(2))).tables(1, "q")


def test_the_first_plan_gains_over_what_was_measured() -> None:
    decision = decided(request(period(1), period(2)))
    assert isinstance(decision, Move)
    assert decision.outlook is not None
    measured = period(2).measured_locality()
    assert decision.outlook.locality_now == measured
    assert "planned without the last 25,000 rows" in decision.reason
    assert f"{measured:.1%} now" in decision.reason
    # What is published is planned from all rows, those held out included.
    assert decision.plan.tables(1, "q") == FIRST


def test_on_one_executor_there_is_no_locality_to_gain() -> None:
    everywhere = [
        replace(p, edges=tuple(replace(e, local_rows=e.rows) for e in p.edges))
        for p in (period(1), period(2))
    ]
    # Counted without a table, expected with one.
    under = request(period(1), period(3, FIRST), period(4, FIRST), current=FIRST)
    for asked in (request(*everywhere), under):
        decision = decided(replace(asked, placed=(0, 0, 0)))
        assert isinstance(decision, Stay)
        assert decision.outlook is not None
        assert decision.outlook.locality_now == pytest.approx(1.0)
        assert decision.outlook.locality_then == pytest.approx(1.0)


def test_a_table_that_fits_stays() -> None:
    under = request(period(1), period(3, FIRST), period(4, FIRST), current=FIRST)
    decision = decided(under, since_ms=60_000)
    assert isinstance(decision, Stay)
    assert decision.reason.startswith("no move: locality")


def test_a_renewed_stream_moves_again() -> None:
    new = [streams.count(streams.correlated(s, 25_000, clusters=20), FIRST) for s in (5, 6, 7)]
    decision = decided(request(period(1), *new, current=FIRST), since_ms=60_000)
    assert isinstance(decision, Move)


def test_noise_gives_no_reason_to_move() -> None:
    rng = np.random.default_rng(8)
    noise = [
        streams.count((rng.integers(0, 3000, 25_000), rng.integers(0, 3000, 25_000)))
        for _ in range(2)
    ]
    decision = decided(request(*noise))
    assert isinstance(decision, Stay)
    assert decision.outlook is not None
    assert decision.outlook.gain < 0.05


def test_imbalance_alone_is_a_reason() -> None:
    rng = np.random.default_rng(9)
    skewed = [streams.count((rng.zipf(1.3, 25_000) % 400,)) for _ in range(3)]
    crowded = [
        replace(p, groups=(replace(p.groups[0], partition_rows=np.array([20_000, 4_000, 1_000])),))
        for p in skewed
    ]
    decision = decide(
        plan_metis, replace(request(*crowded), shapes=(streams.shape(0),)), SETTINGS, None
    )
    assert isinstance(decision, Move)
    assert "against 2.40 now" in decision.reason


def test_an_imbalance_that_few_rows_have_by_chance_is_none() -> None:
    """400 rows on 3 partitions are off by 7 % of a share, so two tables differ by 0.10."""

    def decided_on(rows: int, holdout_rows: int = 1) -> Decision:
        rng = np.random.default_rng(9)
        few = [streams.count((rng.integers(0, 300, rows),)) for _ in range(3)]
        share = rows // 3
        off = np.array([share * 1.2, share, share * 0.8]).astype(np.int64)
        crowded = [replace(p, groups=(replace(p.groups[0], partition_rows=off),)) for p in few]
        settings = replace(SETTINGS, min_rows=0, holdout_rows=holdout_rows)
        asked = replace(request(*crowded), shapes=(streams.shape(0),))
        return decide(plan_metis, asked, settings, None)

    stays = decided_on(400)
    assert isinstance(stays, Stay)
    assert stays.outlook is not None
    (balance,) = stays.outlook.balances
    assert balance.error == pytest.approx(0.1, abs=0.005)
    assert balance.better > 0.05
    assert isinstance(decided_on(40_000), Move)
    # Of two periods there are twice the rows.
    both = decided_on(400, 500)
    assert both.outlook is not None
    assert both.outlook.balances[0].error == pytest.approx(0.1 / 2**0.5, abs=0.005)


def two_groups(now: tuple[list[int], list[int]], keys: tuple[streams.Ids, streams.Ids]) -> Period:
    """Operators without pairs, whose partitions had these rows."""
    counted = streams.count(keys)
    groups = (
        replace(g, partition_rows=np.array(rows))
        for g, rows in zip(counted.groups, now, strict=True)
    )
    return replace(counted, groups=tuple(groups), edges=())


def test_a_hot_key_of_one_group_does_not_keep_another_uneven() -> None:
    rng = np.random.default_rng(10)
    hot = np.where(rng.random(25_000) < 0.8, 0, rng.integers(1, 300, 25_000))
    many = rng.integers(0, 300, 25_000)
    of = two_groups(([20_200, 2_400, 2_400], [20_000, 4_000, 1_000]), (hot, many))
    decision = decided(request(of, of, of))
    assert isinstance(decision, Move)
    assert "the imbalance of group 1 on them would have been 1.0" in decision.reason
    assert "against 2.40 now" in decision.reason


def test_no_group_is_made_uneven_for_another() -> None:
    rng = np.random.default_rng(11)
    many = rng.integers(0, 300, 25_000)
    of = two_groups(([20_000, 4_000, 1_000], [8_400, 8_300, 8_300]), (many, many))

    def spoils(req: PlanRequest) -> Plan:
        plan = plan_metis(req)
        groups = (plan.groups[0], replace(plan.groups[1], targets=plan.groups[1].targets // 2))
        return replace(plan, groups=groups)

    decision = decide(spoils, request(of, of, of), SETTINGS, None)
    assert isinstance(decision, Stay)
    assert "imbalance 1.01 to 2.0" in decision.reason
    assert decision.reason.endswith("in group 1 on the last 25,000 rows, and no pairs were counted")


def test_balance_counts_by_the_rows_of_its_operator() -> None:
    """Behind a partial aggregation few of a query's rows wait at a partition."""
    of = two_groups(([20_000, 4_000, 1_000], [8_400, 8_300, 8_300]), streams.correlated(1, 25_000))
    decision = decided(request(of, of, of), horizon_rows=100_000)
    assert isinstance(decision, Move)
    behind = replace(of, rows=100 * of.rows)
    decision = decided(request(behind, behind, behind), horizon_rows=100_000)
    assert isinstance(decision, Stay)
    # (2.40 - 1.0) / 3 of 1,000 rows, less what the other one has of it.
    assert "it would save 4" in decision.reason


@pytest.mark.parametrize(
    ("periods", "since_ms", "reason"),
    [
        ((1,), None, "25,000 rows counted under version 0; a plan needs 50,000"),
        ((1, 2), 12_000, "the last change is 12 s old; changes are at least 30 s apart"),
    ],
)
def test_it_waits_for_rows_and_time(
    periods: tuple[int, ...], since_ms: int | None, reason: str
) -> None:
    assert decided(request(*map(period, periods)), since_ms) == Stay(reason)


def test_rows_counted_under_an_older_table_do_not_count() -> None:
    old, new = [period(s) for s in (1, 2, 3)], period(4, FIRST)
    decision = decided(request(*old, new, current=FIRST), since_ms=60_000)
    assert decision == Stay("25,000 rows counted under version 1; a plan needs 50,000")


def test_rows_of_a_table_that_was_lost_count() -> None:
    under = [period(s, FIRST) for s in (1, 2)]
    decision = decided(request(*under), since_ms=60_000)
    assert isinstance(decision, Stay)
    assert decision.outlook is not None
    assert decision.outlook.locality_now == under[-1].measured_locality()


def test_one_great_period_cannot_be_judged() -> None:
    decision = decided(request(period(1, rows=60_000)))
    assert decision == Stay(
        "a plan is made from at least one period and judged on 20,000 rows after it, in whole "
        "periods; there are 60,000 rows in 1 in all"
    )


def test_one_operator_is_moved_for_balance_and_for_nothing_else() -> None:
    alone = [replace(period(seed), edges=()) for seed in (1, 2)]
    decision = decided(request(*alone), min_gain=0.0, imbalance_threshold=99.0)
    assert isinstance(decision, Stay)
    assert "no pairs were counted" in decision.reason


def test_a_small_open_period_is_held_out_with_the_one_before() -> None:
    decision = decided(request(period(1), period(2), period(3, rows=1_000)))
    assert isinstance(decision, Move)
    assert decision.outlook is not None
    assert decision.outlook.rows == 26_000


def test_a_planner_without_an_answer_is_a_reason_to_stay() -> None:
    def cannot(_: PlanRequest) -> Plan:
        raise CannotPlan("no keys were counted")

    decision = decide(cannot, request(period(1), period(2)), SETTINGS, None)
    assert decision == Stay("no plan: no keys were counted")


def test_a_plan_that_equals_the_table_in_force_is_not_published() -> None:
    crowded = [
        replace(p, edges=(replace(p.edges[0], local_rows=0),)) for p in (period(1), period(2))
    ]
    decision = decide(plan_hash, request(*crowded), SETTINGS, None)
    assert isinstance(decision, Stay)
    assert decision.reason == "the best plan is the table in force"
