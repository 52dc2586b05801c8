"""From a snapshot to a decision: gathers what a planner is asked, and asks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from keyroute.controller.snapshot import DriverView, Snapshot
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay, decide
from keyroute.core.plan import CannotPlan, Planner, PlanRequest, PlanSettings, between_of
from keyroute.core.table import InvalidTable, RoutingTables, no_tables
from keyroute.core.topology import topology
from keyroute.zookeeper.errors import Damaged, TableMissing
from keyroute.zookeeper.store import Store

Decide: TypeAlias = Callable[[Planner, PlanRequest, DecisionSettings, int | None], Decision]


@dataclass(frozen=True, slots=True)
class Planning:
    """How queries are planned; `decide` is the gate between a plan and a change.

    `executors` is how many a query is meant to have, see `PlanRequest`. Within `horizon_s` a change
    must make good what it costs; it is turned into rows by how fast the last batches were.
    `new_keys_rows` counted under the tables in force are enough to give keys a place that have
    none, where the planner can do so between full plans (0: it is not asked).
    """

    planner: Planner
    decision: DecisionSettings = field(default_factory=DecisionSettings)
    plan: PlanSettings = field(default_factory=PlanSettings)
    executors: int = 0
    horizon_s: float = 3600.0
    new_keys_rows: int = 0
    decide: Decide = decide


@dataclass(frozen=True, slots=True)
class Current:
    """The tables in force. `note` is empty or says why they are only assumed."""

    tables: RoutingTables
    note: str = ""


def read_current(store: Store, snapshot: Snapshot) -> Current:
    """The version in force, read back; the empty one where ZooKeeper no longer has it."""
    state = snapshot.state
    if state.in_force is None or state.in_force.version == 0:
        return Current(no_tables(state.query_id))
    try:
        return Current(store.tables.read(state.query_id, state.in_force.version))
    except (TableMissing, Damaged) as error:
        return Current(no_tables(state.query_id), f"planned as from the empty table ({error})")


def consider(
    snapshot: Snapshot, current: Current, planning: Planning, since_change_ms: int | None
) -> Decision:
    """Whether to change the query's tables now, and to what. Pure.

    `since_change_ms` is the age of the last reconfiguration, None where there was none.
    """
    obstacle = _obstacle(snapshot)
    if obstacle:
        return Stay(obstacle)
    driver, meta = snapshot.driver, snapshot.state.meta
    assert driver is not None  # _obstacle has looked
    assert driver.statistics is not None
    assert meta is not None
    request = PlanRequest(
        query_id=snapshot.state.query_id,
        shapes=meta.groups,
        periods=driver.statistics.to_plan_from,
        current=current.tables,
        executors=planning.executors,
        placed=driver.statistics.placed,
        topology=topology(
            driver.statistics.placement, meta.groups, current.tables.parts, planning.executors
        ),
        settings=planning.plan,
    )
    try:
        settings = _with_horizon(planning, driver)
        decision = planning.decide(planning.planner, request, settings, since_change_ms)
        between = between_of(planning.planner)
        if isinstance(decision, Move) or between is None or not planning.new_keys_rows:
            return decision
        if not current.tables.entries:
            return decision
        # The same gate, after fewer rows: what is new cannot go to and fro.
        sooner = replace(settings, min_rows=planning.new_keys_rows, hysteresis=0.0)
        newest = replace(request, periods=driver.statistics.periods)
        placed = planning.decide(between, newest, sooner, since_change_ms)
        return placed if isinstance(placed, Move) else decision
    except (CannotPlan, InvalidTable) as error:
        return Stay(f"no plan: {error}")


def _with_horizon(planning: Planning, driver: DriverView) -> DecisionSettings:
    """The horizon in rows, as many as came in as much time; that of the settings where no batch has
    been timed yet. Time between batches counts: a query may wait for its trigger, or for rows."""
    batches = driver.status.batches if driver.status is not None else ()
    ended = [batch for batch in batches if batch.ended_ms]
    rows = sum(batch.input_rows for batch in ended)
    if not rows:
        return planning.decision
    ms = max(1, ended[-1].ended_ms - (ended[0].ended_ms - ended[0].duration_ms))
    return replace(planning.decision, horizon_rows=planning.horizon_s * 1000.0 * rows / ms)


def _obstacle(snapshot: Snapshot) -> str:
    driver, state = snapshot.driver, snapshot.state
    if driver is None or driver.problem:
        return f"no statistics: {driver.problem if driver else 'the driver was not asked'}"
    if driver.status is not None and driver.status.bypass:
        return f"the query runs without KeyRoute: {driver.status.bypass}"
    if driver.statistics is None:
        return "no statistics: the driver has none of this query (yet)"
    if state.meta is None or not state.meta.groups:
        return "the query has no routed operator (yet)"
    registered = state.in_force.version if state.in_force is not None else 0
    if driver.statistics.table_version != registered:
        return (
            f"the driver runs under version {driver.statistics.table_version} and ZooKeeper says "
            f"{registered}: waiting for the driver to write it"
        )
    return ""
