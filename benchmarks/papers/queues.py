"""A model of reducers as queues: what routing makes of latency and throughput.

Each reducer takes its bids in order, at most `capacity` of them a second; the latency of a bid is
that of what waits before it. Moving a slot costs nothing but time: tables planned after an
interval are in force `DELAY_S` later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.plan import Planner, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, no_tables
from papers.operators import QUERY, Operators

TICK_S = 0.1
INTERVAL_S = 1.0
DELAY_S = 0.5
HISTORY = 16


@dataclass
class Course:
    """By tick: `latency_s` and `done` a second of each reducer; slots that moved in all."""

    latency_s: list[list[float]] = field(default_factory=list)
    done: list[list[float]] = field(default_factory=list)
    moved: int = 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON: means over each second, and what tables show of it."""
        worst = np.array(self.latency_s).max(axis=1)
        return {
            "latency_s": by_second(self.latency_s).round(3).tolist(),
            "done": by_second(self.done).round(1).tolist(),
            "moved_slots": self.moved,
            "peak_s": float(worst.max()),
            "end_s": float(worst[-1]),
            "mean_s": float(worst.mean()),
        }


def run(
    stream: Operators,
    per_s: float,
    capacity: float,
    planner: Planner | None,
    settings: PlanSettings,
) -> Course:
    """One operator's course; with a planner, tables are planned after each interval."""
    shape, count = stream.shapes[0], len(stream.codes[0])
    tables, coming = no_tables(QUERY), None
    queue = np.zeros(shape.partitions)
    periods: list[Period] = []
    course = Course()
    each, delay = _ticks(INTERVAL_S), _ticks(DELAY_S)
    at: Callable[[int], int] = lambda tick: round(tick * TICK_S * per_s)  # noqa: E731
    for tick in range(round(count / per_s / TICK_S)):
        if planner and tick and tick % each == 0:
            period = stream.period(tick // each, tables, at(tick - each), at(tick))
            periods = [*periods, period][-HISTORY:]
            _, coming = stream.plan(planner, periods, tables, settings)
        if coming is not None and tick % each == delay:
            course.moved += _slots_moved(tables, coming, stream)
            tables, coming = coming, None
        queue += stream.loads(tables, at(tick), at(tick + 1))[0]
        done = np.minimum(queue, capacity * TICK_S)
        queue -= done
        course.latency_s.append((queue / capacity).tolist())
        course.done.append((done / TICK_S).tolist())
    return course


def by_second(ticks: list[list[float]]) -> FloatArray:
    """Means over each second (seconds, n)."""
    found: FloatArray = np.array(ticks).reshape(-1, _ticks(1.0), len(ticks[0])).mean(axis=1)
    return found


def _ticks(seconds: float) -> int:
    return round(seconds / TICK_S)


def _slots_moved(before: RoutingTables, after: RoutingTables, stream: Operators) -> int:
    old, new = (tables.group(stream.shapes[0]).owners() for tables in (before, after))
    return int((old != new).sum())
