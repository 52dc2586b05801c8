"""The gate between a plan and a reconfiguration: is it worth its moves? Pure.

A plan looks better on the rows it was made from than on those to come. So the plan that is judged
is made without the newest whole period, and judged on it beside the table in force; what is
published is planned from all rows. What it gains over the horizon must be worth the state that it
moves, and right after a change the next one must gain more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from keyroute.core.outlook import Balance, Outlook, outlook_of
from keyroute.core.plan import CannotPlan, Plan, Planner, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables
from keyroute.core.table_diff import diff
from keyroute.core.worth import rows_to_move, saved_rows


@dataclass(frozen=True, slots=True)
class DecisionSettings:
    """When to move. Gains and imbalances are shares and ratios (0.05 is 5 points of locality).

    `min_rows` must have been counted under the table in force; the newest periods that hold at
    least `holdout_rows`, each whole, are what a plan is judged on. Where a table is in force,
    `min_gain` is raised by the share `hysteresis` of itself once `min_rows` are counted under it,
    and by nothing once twice as many are. A gain, be it of locality or of balance, must also be
    `sureness` times its standard error: few rows tell little. A move for balance needs a group
    above `imbalance_threshold` that improves by `min_imbalance_gain`, and none that gets as much
    worse and is above the threshold then; it may cost `max_locality_loss`. A moved row of state
    costs as much as `row_cost` rows that go to another executor; that is to be made good within
    `horizon_rows` of input.
    """

    min_rows: int = 50_000
    min_interval_ms: int = 30_000
    holdout_rows: int = 20_000
    min_gain: float = 0.05
    imbalance_threshold: float = 1.10
    min_imbalance_gain: float = 0.05
    max_locality_loss: float = 0.02
    hysteresis: float = 0.5
    sureness: float = 2.0
    horizon_rows: float = 10_000_000
    row_cost: float = 5.0


@dataclass(frozen=True, slots=True)
class Move:
    """Publish this plan, for this reason. `rows_to_move` is the state that it moves, estimated."""

    plan: Plan
    reason: str
    outlook: Outlook | None = None
    rows_to_move: int = 0


@dataclass(frozen=True, slots=True)
class Stay:
    """Keep the tables in force, for this reason."""

    reason: str
    outlook: Outlook | None = None


Decision: TypeAlias = Move | Stay


def decide(
    planner: Planner,
    request: PlanRequest,
    settings: DecisionSettings,
    since_change_ms: int | None,
) -> Decision:
    """Move or stay, with one sentence that says why.

    The request's periods are closed ones, oldest first, whatever table they were counted under.
    `since_change_ms` is the age of the last reconfiguration, None where there was none.
    """
    waits = _must_wait(request, settings, since_change_ms)
    if waits:
        return Stay(waits)
    earlier, held_out = _split(request.periods, settings.holdout_rows)
    if held_out and not earlier:
        return Stay(
            f"a plan is made from at least one period and judged on {settings.holdout_rows:,} rows "
            f"after it, in whole periods; there are {sum(p.rows for p in held_out):,} rows in "
            f"{len(held_out)} in all"
        )
    try:
        judged = planner(replace(request, periods=earlier))
        outlook = outlook_of(judged, request, held_out)
        outlook = replace(outlook, needed=_needed_gain(request, settings, outlook.error))
        reason = _reason_to_move(outlook, settings)
        if reason is None:
            return Stay(_not_enough(outlook, settings), outlook)
        plan = planner(request)
    except CannotPlan as e:
        return Stay(f"no plan: {e}")
    if not _changes(request.current, plan):
        return Stay("the best plan is the table in force", outlook)
    tables = plan.tables(request.current.version, request.current.query_id)
    to_move = rows_to_move(request.current, tables, request.periods)
    too_dear = _too_dear(outlook, to_move, settings)
    if too_dear:
        return Stay(too_dear, outlook)
    reason = f"{reason}; {plan.moved_keys:,} keys move or get an entry"
    return Move(plan, reason, outlook, to_move)


def _must_wait(
    request: PlanRequest, settings: DecisionSettings, since_change_ms: int | None
) -> str | None:
    if since_change_ms is not None and since_change_ms < settings.min_interval_ms:
        return (
            f"the last change is {since_change_ms / 1000:.0f} s old; changes are at least "
            f"{settings.min_interval_ms / 1000:.0f} s apart"
        )
    rows = _rows_under(request)
    if rows < settings.min_rows:
        version = _version_in_force(request)
        return f"{rows:,} rows counted under version {version}; a plan needs {settings.min_rows:,}"
    return None


def _rows_under(request: PlanRequest) -> int:
    """Rows counted under the version in force."""
    version = _version_in_force(request)
    return sum(p.rows for p in request.periods if p.table_version == version)


def _needed_gain(request: PlanRequest, settings: DecisionSettings, error: float) -> float:
    """Less of a gain will do the longer a table has been in force: hysteresis. And it must not be
    what chance brings."""
    freshness = 0.0
    if _version_in_force(request) and settings.min_rows > 0:
        freshness = min(max(0.0, 2.0 - _rows_under(request) / settings.min_rows), 1.0)
    least = settings.min_gain * (1.0 + settings.hysteresis * freshness)
    return max(least, settings.sureness * error)


def _version_in_force(request: PlanRequest) -> int:
    """The current version; the newest counted one where the current tables are lost (version 0)."""
    if request.current.version or not request.periods:
        return request.current.version
    return request.periods[-1].table_version


def _split(
    periods: Sequence[Period], holdout_rows: int
) -> tuple[tuple[Period, ...], tuple[Period, ...]]:
    """(earlier, held out): the newest periods with enough rows are held out."""
    rows, at = 0, len(periods)
    while at > 0 and rows < holdout_rows:
        at -= 1
        rows += periods[at].rows
    return tuple(periods[:at]), tuple(periods[at:])


def _reason_to_move(outlook: Outlook, settings: DecisionSettings) -> str | None:
    known = outlook.locality_now is not None and outlook.locality_then is not None
    if known and outlook.gain >= outlook.needed:
        return (
            f"planned without the last {outlook.rows:,} rows, it would have kept "
            f"{outlook.locality_then:.1%} of them local, against {outlook.locality_now:.1%} now"
        )
    best = max(
        (b for b in outlook.balances if _evened(b, settings)), key=lambda b: b.better, default=None
    )
    if best is None or _spoilt(outlook, settings) or outlook.gain < -settings.max_locality_loss:
        return None
    return (
        f"planned without the last {outlook.rows:,} rows, the imbalance of group {best.group} on "
        f"them would have been {best.then:.2f}, against {best.now:.2f} now"
    )


def _evened(balance: Balance, settings: DecisionSettings) -> bool:
    least = max(settings.min_imbalance_gain, settings.sureness * balance.error)
    return balance.now > settings.imbalance_threshold and balance.better >= least


def _spoilt(outlook: Outlook, settings: DecisionSettings) -> Balance | None:
    """A group that would be above the threshold, and clearly worse than it is now."""
    worse = (
        b
        for b in outlook.balances
        if b.then > settings.imbalance_threshold and -b.better >= settings.min_imbalance_gain
    )
    return next(worse, None)


def _not_enough(outlook: Outlook, settings: DecisionSettings) -> str:
    worst = _spoilt(outlook, settings) or max(outlook.balances, key=lambda b: b.now, default=None)
    balance = "imbalance not known"
    if worst is not None:
        balance = f"imbalance {worst.now:.2f} to {worst.then:.2f} in group {worst.group}"
    if outlook.locality_now is None or outlook.locality_then is None:
        return f"no move: {balance} on the last {outlook.rows:,} rows, and no pairs were counted"
    return (
        f"no move: locality {outlook.locality_now:.1%} to {outlook.locality_then:.1%} and "
        f"{balance} on the last {outlook.rows:,} rows; a move needs "
        f"{outlook.needed * 100:.1f} points"
    )


def _too_dear(outlook: Outlook, to_move: int, settings: DecisionSettings) -> str | None:
    """Why the move is not worth its rows within the horizon; None where it is.

    Rows that no longer queue at an operator's fullest partition count like rows that stay local.
    """
    horizon = settings.horizon_rows
    local = saved_rows(outlook.gain, outlook.rows, outlook.pair_rows, horizon)
    even = sum(
        saved_rows(b.better / b.partitions, outlook.rows, b.rows, horizon) for b in outlook.balances
    )
    saved, cost = max(local, even), to_move * settings.row_cost
    if saved >= cost:
        return None
    return (
        f"no move: it would save {saved:,.0f} rows from going to another executor within the next "
        f"{horizon:,.0f} rows, and moving {to_move:,} rows of state costs as much as {cost:,.0f}"
    )


def _changes(current: RoutingTables, plan: Plan) -> bool:
    wanted = plan.tables(current.version, current.query_id)
    return wanted.parts != current.parts or any(not d.is_empty for d in diff(current, wanted))
