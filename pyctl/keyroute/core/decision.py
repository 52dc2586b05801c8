"""The gate between a plan and a reconfiguration: is it worth its moves?

Built by the planning helper: signatures first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from keyroute.core.plan import Plan, Planner, PlanRequest


@dataclass(frozen=True, slots=True)
class DecisionSettings:
    """When to move. Gains and imbalances are shares and ratios (0.05 is 5 points of locality)."""

    min_rows: int = 50_000
    min_interval_ms: int = 30_000
    min_gain: float = 0.05
    imbalance_threshold: float = 1.10
    min_imbalance_gain: float = 0.05


@dataclass(frozen=True, slots=True)
class Move:
    """Publish this plan."""

    plan: Plan
    reason: str


@dataclass(frozen=True, slots=True)
class Stay:
    """Keep the tables in force."""

    reason: str


Decision: TypeAlias = Move | Stay


def decide(
    planner: Planner,
    request: PlanRequest,
    settings: DecisionSettings,
    since_change_ms: int | None,
) -> Decision:
    """Decides from the request's periods; `since_change_ms` is None before the first change."""
    if since_change_ms is not None and since_change_ms < settings.min_interval_ms:
        return Stay(
            f"the last change is {since_change_ms / 1000:.0f} s old; changes are at least "
            f"{settings.min_interval_ms / 1000:.0f} s apart"
        )
    rows = sum(p.rows for p in request.periods)
    if rows < settings.min_rows:
        return Stay(f"{rows:,} rows counted; a plan needs {settings.min_rows:,}")
    plan = planner(request)
    return Move(plan, plan.why)
