"""The gate between a plan and a reconfiguration: is it worth its moves? Pure.

A plan looks better on the rows it was made from than on those to come. So the plan that is judged
is made without the newest rows, and judged on them beside the table in force; what is published is
planned from all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from keyroute.core import score
from keyroute.core.plan import CannotPlan, Plan, Planner, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables
from keyroute.core.table_diff import diff


@dataclass(frozen=True, slots=True)
class DecisionSettings:
    """When to move. Gains and imbalances are shares and ratios (0.05 is 5 points of locality).

    `min_rows` must have been counted under the table in force; the newest periods that hold at
    least `holdout_rows` are what a plan is judged on. A move for balance needs a group above
    `imbalance_threshold` and an improvement of `min_imbalance_gain`, and may cost
    `max_locality_loss`.
    """

    min_rows: int = 50_000
    min_interval_ms: int = 30_000
    holdout_rows: int = 20_000
    min_gain: float = 0.05
    imbalance_threshold: float = 1.10
    min_imbalance_gain: float = 0.05
    max_locality_loss: float = 0.02


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the judged plan would have done on the held-out rows, and what is in force does."""

    rows: int
    locality_now: float | None
    locality_then: float | None
    imbalance_now: float
    imbalance_then: float

    @property
    def gain(self) -> float:
        """Locality gained; 0 where the query has no pairs."""
        if self.locality_now is None or self.locality_then is None:
            return 0.0
        return self.locality_then - self.locality_now


@dataclass(frozen=True, slots=True)
class Move:
    """Publish this plan, for this reason."""

    plan: Plan
    reason: str
    outlook: Outlook | None = None


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
        return Stay("all rows so far are in one period; a plan is judged on rows after its own")
    try:
        judged = planner(replace(request, periods=earlier))
        outlook = _outlook(judged, request, held_out)
        reason = _reason_to_move(outlook, settings)
        if reason is None:
            return Stay(_not_worth_it(outlook, settings), outlook)
        plan = planner(request)
    except CannotPlan as e:
        return Stay(f"no plan: {e}")
    if not _changes(request.current, plan):
        return Stay("the best plan is the table in force", outlook)
    return Move(plan, f"{reason}; {plan.moved_keys:,} keys move or get an entry", outlook)


def _must_wait(
    request: PlanRequest, settings: DecisionSettings, since_change_ms: int | None
) -> str | None:
    if since_change_ms is not None and since_change_ms < settings.min_interval_ms:
        return (
            f"the last change is {since_change_ms / 1000:.0f} s old; changes are at least "
            f"{settings.min_interval_ms / 1000:.0f} s apart"
        )
    version = _version_in_force(request)
    rows = sum(p.rows for p in request.periods if p.table_version == version)
    if rows < settings.min_rows:
        return f"{rows:,} rows counted under version {version}; a plan needs {settings.min_rows:,}"
    return None


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


def _outlook(judged: Plan, request: PlanRequest, held_out: tuple[Period, ...]) -> Outlook:
    current = request.current
    then = judged.tables(0, current.query_id)
    return Outlook(
        rows=sum(p.rows for p in held_out),
        locality_now=_locality_now(current, held_out, request.placed),
        locality_then=score.locality(then, held_out, request.placed),
        imbalance_now=max(_imbalance_now(current, held_out).values(), default=1.0),
        imbalance_then=max(score.expected_imbalance(then, held_out).values(), default=1.0),
    )


def _locality_now(
    current: RoutingTables, held_out: tuple[Period, ...], placed: tuple[int, ...]
) -> float | None:
    """Expected like the plan's; but measured where the current tables are empty (or lost).

    Then nothing is known of where keys are, whereas the executors have counted it.
    """
    rows = sum(e.rows for p in held_out for e in p.edges)
    if rows and not current.groups:
        return sum(e.local_rows for p in held_out for e in p.edges) / rows
    return score.locality(current, held_out, placed)


def _imbalance_now(current: RoutingTables, held_out: tuple[Period, ...]) -> dict[int, float]:
    """As counted where all these rows went by the table in force (or it is lost); else expected."""
    if not current.groups or all(p.table_version == current.version for p in held_out):
        return score.measured_imbalance(held_out)
    return score.expected_imbalance(current, held_out)


def _reason_to_move(outlook: Outlook, settings: DecisionSettings) -> str | None:
    if outlook.gain >= settings.min_gain:
        return (
            f"planned without the last {outlook.rows:,} rows, it would have kept "
            f"{outlook.locality_then:.1%} of them local, against {outlook.locality_now:.1%} now"
        )
    better = outlook.imbalance_now - outlook.imbalance_then
    if (
        outlook.imbalance_now > settings.imbalance_threshold
        and better >= settings.min_imbalance_gain
        and outlook.gain >= -settings.max_locality_loss
    ):
        return (
            f"planned without the last {outlook.rows:,} rows, its imbalance on them would have "
            f"been {outlook.imbalance_then:.2f}, against {outlook.imbalance_now:.2f} now"
        )
    return None


def _not_worth_it(outlook: Outlook, settings: DecisionSettings) -> str:
    balance = f"imbalance {outlook.imbalance_now:.2f} to {outlook.imbalance_then:.2f}"
    if outlook.locality_now is None or outlook.locality_then is None:
        return f"no move: {balance} on the last {outlook.rows:,} rows, and no pairs were counted"
    return (
        f"no move: locality {outlook.locality_now:.1%} to {outlook.locality_then:.1%} and "
        f"{balance} on the last {outlook.rows:,} rows; a move needs "
        f"{settings.min_gain * 100:.0f} points"
    )


def _changes(current: RoutingTables, plan: Plan) -> bool:
    wanted = plan.tables(current.version, current.query_id)
    return wanted.parts != current.parts or any(not d.is_empty for d in diff(current, wanted))
