"""What is asked of a planner, and what keeps it from being asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.controller.planning import Current, Planning, consider
from keyroute.controller.snapshot import DriverView, Snapshot
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay
from keyroute.core.plan import CannotPlan, Plan, PlanRequest
from keyroute.core.statistics import (
    GroupStatistics,
    KeyCounts,
    PartitionPlacement,
    Period,
    QueryStatistics,
)
from keyroute.core.table import GroupShape, no_tables
from keyroute.planners.metis import plan_metis
from keyroute.v1.reconfiguration_pb2 import COMMIT, Reconfiguration
from keyroute.v1.status_pb2 import QueryStatus
from keyroute.zookeeper.payloads import InForce, Live, QueryMeta
from keyroute.zookeeper.store import QueryState, StoredReconfiguration

SHAPE = GroupShape(0, (0,), 3, 1026, (0,), ("k",), ("string",))
STATISTICS = QueryStatistics(
    query_id="q",
    run_id="run",
    name="flights",
    periods=(),
    placement=tuple(PartitionPlacement(0, p, f"e{p % 2}", "h") for p in range(3)),
    table_version=4,
    batch=9,
)
STATE = QueryState(
    query_id="q",
    meta=QueryMeta("q", "flights", (SHAPE,)),
    live=Live("app", "run"),
    wanted=None,
    in_force=InForce(4, "h", 2),
    reconfiguration=StoredReconfiguration(
        Reconfiguration(format=1, phase=COMMIT, version=4, updated_ms=10_000), 3
    ),
    versions=(4,),
)
DRIVER = DriverView(QueryStatus(query_id="q", table_version=4), STATISTICS)
SNAPSHOT = Snapshot(STATE, None, DRIVER)


def _never(_: PlanRequest) -> Plan:
    raise CannotPlan("the planner was asked")


def _reason(snapshot: Snapshot, since_change_ms: int = 90_000) -> str:
    decision = consider(
        snapshot,
        Current(no_tables("q")),
        Planning(_never, DecisionSettings(min_rows=0)),
        since_change_ms,
    )
    assert isinstance(decision, Stay)
    return decision.reason


def test_a_planner_that_cannot_plan_is_a_reason_to_stay() -> None:
    assert _reason(SNAPSHOT).startswith("no plan")


def test_a_planner_is_told_the_executors_that_are_meant_and_those_seen() -> None:
    asked: list[PlanRequest] = []

    def planner(request: PlanRequest) -> Plan:
        asked.append(request)
        raise CannotPlan("enough")

    nothing = np.zeros(0, np.int64)
    keys = KeyCounts(0, nothing, nothing, nothing)
    period = Period(1, 9, 4, 1, (GroupStatistics(SHAPE, 1, nothing, nothing, 0, keys),), ())
    driver = replace(DRIVER, statistics=replace(STATISTICS, periods=(period,)))
    planning = Planning(planner, DecisionSettings(min_rows=0, holdout_rows=0), executors=2)
    consider(replace(SNAPSHOT, driver=driver), Current(no_tables("q")), planning, 90_000)
    assert [(r.executors, r.placed) for r in asked] == [(2, (0, 1, 0))]


@pytest.mark.parametrize(
    ("batches", "rows"),
    [
        # Two batches of a second in eleven: 4,000 rows, of which an hour has 327 times as many.
        ([(9_000, 1000, 2000), (19_000, 1000, 2000)], 4000 * 3600 / 11),
        # The last one runs; the first had no rows.
        ([(9_000, 1000, 0), (19_000, 1000, 2000), (0, 0, 0)], 2000 * 3600 / 11),
        ([(0, 0, 0)], 7.0),
        ([], 7.0),
    ],
)
def test_the_horizon_is_as_many_rows_as_come_in_its_time(
    batches: list[tuple[int, int, int]], rows: float
) -> None:
    asked: list[float] = []

    def look(_: object, __: object, settings: DecisionSettings, ___: object) -> Decision:
        asked.append(settings.horizon_rows)
        return Stay("seen")

    status = QueryStatus(query_id="q", table_version=4)
    for ended, took, came in batches:
        status.batches.add(ended_ms=ended, duration_ms=took, input_rows=came)
    planning = Planning(_never, DecisionSettings(horizon_rows=7.0), decide=look)
    snapshot = replace(SNAPSHOT, driver=replace(DRIVER, status=status))
    consider(snapshot, Current(no_tables("q")), planning, 90_000)
    assert asked == [pytest.approx(rows)]


def test_a_period_that_has_hardly_begun_is_not_asked_about_but_for_new_keys() -> None:
    asked: list[list[int]] = []

    class Planner:
        def __call__(self, request: PlanRequest) -> Plan:
            asked.append([p.rows for p in request.periods])
            return plan_metis(request)

        def between(self, request: PlanRequest) -> Plan:
            asked.append([p.rows for p in request.periods])
            return plan_metis.between(request)

    whole, begun = (streams.count(streams.correlated(seed, n)) for seed, n in ((1, 4000), (2, 9)))
    shapes = tuple(g.shape for g in whole.groups)
    current = plan_metis(PlanRequest("q", shapes, (whole,), no_tables("q"))).tables(4, "q")
    periods = tuple(replace(p, table_version=4) for p in (whole, whole, begun))
    driver = replace(DRIVER, statistics=replace(STATISTICS, periods=periods))
    state = replace(STATE, meta=QueryMeta("q", "flights", shapes))
    planning = Planning(Planner(), DecisionSettings(min_rows=1, holdout_rows=1), new_keys_rows=1)
    snapshot = replace(SNAPSHOT, state=state, driver=driver)
    assert isinstance(consider(snapshot, Current(current), planning, 90_000), Stay)
    # Each is asked without what it is judged on.
    assert asked == [[4000], [4000, 4000]]


@pytest.mark.parametrize(
    ("driver", "says"),
    [
        (None, "the driver was not asked"),
        (DriverView(problem="no token"), "no token"),
        (DriverView(QueryStatus(bypass="real-time mode"), STATISTICS), "real-time mode"),
        (DriverView(QueryStatus()), "has none of this query"),
        (DriverView(QueryStatus(), replace(STATISTICS, table_version=5)), "runs under version 5"),
    ],
)
def test_obstacles_are_named(driver: DriverView | None, says: str) -> None:
    assert says in _reason(replace(SNAPSHOT, driver=driver))


def test_a_query_without_routed_operators_is_left_alone() -> None:
    state = replace(STATE, meta=QueryMeta("q", "flights", ()))
    assert "no routed operator" in _reason(replace(SNAPSHOT, state=state))


def test_a_recent_change_is_given_time() -> None:
    assert "last change" in _reason(SNAPSHOT, since_change_ms=1_000)


def test_the_next_version_counts_what_the_driver_says() -> None:
    driver = DriverView(QueryStatus(query_id="q", table_version=12), STATISTICS)
    assert replace(SNAPSHOT, driver=driver).drivers_own_version == 12
    assert STATE.next_version(12) == 13


def test_new_keys_get_a_place_between_full_plans_where_that_is_asked_for() -> None:
    """Half of the clusters come up once a table is in force; rows are too few for a full plan."""
    shapes = (streams.shape(0), streams.shape(1))
    old = [tuple(ids % 150 for ids in streams.correlated(s, 4000, clusters=15)) for s in (1, 2)]
    first = plan_metis(
        PlanRequest("q", shapes, tuple(map(streams.count, old)), no_tables("q"))  # type: ignore[arg-type]
    ).tables(4, "q")
    under = tuple(streams.count(streams.correlated(seed, 8000), first) for seed in (3, 4, 5))
    statistics = replace(STATISTICS, periods=under, placement=())
    state = replace(STATE, meta=QueryMeta("q", "flights", shapes))
    snapshot = replace(SNAPSHOT, state=state, driver=replace(DRIVER, statistics=statistics))
    decision = DecisionSettings(min_rows=10**9, holdout_rows=1)

    def decided(new_keys_rows: int) -> Decision:
        planning = Planning(plan_metis, decision, new_keys_rows=new_keys_rows)
        return consider(snapshot, Current(first), planning, 90_000)

    placed = decided(20_000)
    assert isinstance(placed, Move), placed.reason
    assert placed.outlook is not None
    assert placed.outlook.gain > 0.05
    for table, before in zip(placed.plan.groups, first.groups, strict=True):
        assert table.entries > before.entries
        assert table.explicit(before.fingerprints).tolist() == before.targets.tolist()
    for rows in (0, 30_000):
        stays = decided(rows)
        assert isinstance(stays, Stay)
        assert "a plan needs 1,000,000,000" in stays.reason
