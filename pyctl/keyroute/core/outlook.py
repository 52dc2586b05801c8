"""What a plan would have brought on rows that it was not made from, beside what is in force."""

from __future__ import annotations

import math
from dataclasses import dataclass

from keyroute.core import score
from keyroute.core.gain_error import gain_error
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables


@dataclass(frozen=True, slots=True)
class Balance:
    """Imbalance of a group on its own held-out `rows`, now and by the judged plan.

    `error` is the standard error of the difference, as of a sample of rows.
    """

    group: int
    rows: int
    partitions: int
    now: float
    then: float

    @property
    def better(self) -> float:
        """By how much less the fullest partition has, in mean partitions."""
        return self.now - self.then

    @property
    def error(self) -> float:
        """Of two tables, each with a partition whose share is off by what chance makes of it.

        Of r rows an n-th falls on a partition with a standard error of sqrt((n - 1) / r) of itself.
        """
        return math.sqrt(2 * (self.partitions - 1) / self.rows) if self.rows else 0.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the judged plan would have done on the held-out rows, and what is in force does.

    `pair_rows` of the `rows` went between operators, one for each edge. `error` is the standard
    error of the gain, as of a sample of pairs. `needed` is the locality that a move has to gain.
    """

    rows: int
    locality_now: float | None
    locality_then: float | None
    balances: tuple[Balance, ...] = ()
    pair_rows: int = 0
    error: float = 0.0
    needed: float = 0.0

    @property
    def imbalance_then(self) -> float:
        """The worst by the judged plan; 1 where no group had rows."""
        return max((b.then for b in self.balances), default=1.0)

    @property
    def gain(self) -> float:
        """Locality gained; 0 where the query has no pairs."""
        if self.locality_now is None or self.locality_then is None:
            return 0.0
        return self.locality_then - self.locality_now


def outlook_of(judged: Plan, request: PlanRequest, held_out: tuple[Period, ...]) -> Outlook:
    """Judges a plan that was made without the held-out periods, beside the tables in force."""
    current = request.current
    then = judged.tables(0, current.query_id)
    return Outlook(
        rows=sum(p.rows for p in held_out),
        locality_now=_locality_now(current, held_out, request.placed),
        locality_then=score.locality(then, held_out, request.placed),
        balances=_balances(current, then, held_out),
        pair_rows=sum(e.rows for p in held_out for e in p.edges),
        error=gain_error(current, then, held_out, request.placed),
    )


def _balances(
    current: RoutingTables, then: RoutingTables, held_out: tuple[Period, ...]
) -> tuple[Balance, ...]:
    now, later = _imbalance_now(current, held_out), score.expected_imbalance(then, held_out)
    shapes = {g.shape.group: g.shape for p in held_out for g in p.groups}
    rows = dict.fromkeys(shapes, 0)
    for group in (g for p in held_out for g in p.groups):
        rows[group.shape.group] += group.rows
    return tuple(
        Balance(group, rows[group], shapes[group].partitions, now[group], later[group])
        for group in sorted(now.keys() & later.keys())
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
