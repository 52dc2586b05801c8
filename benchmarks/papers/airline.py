"""The airline job of Madsen et al. 2016, §IV-B, on flights from New York: keys, cost and courses.

Three operators: delays by aircraft, their sums by aircraft, and sums by route, so that the first
two can be collocated in full. Periods are weeks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.moves import moved
from keyroute.core.plan import Planner, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, empty
from keyroute.simulate.stream import Cut
from papers.operators import QUERY, Operators, rolled
from papers.streams import streams

NODES = 20
SLOTS_EACH = 5
"""Key groups of each operator for each node, as in the paper."""
REMOTE = 1.0
"""Work of sending a row to another node and taking it there; of handling it: 1."""


@dataclass(frozen=True, eq=False)
class Job:
    """The operators, and where each period begins and ends."""

    operators: Operators
    bounds: tuple[tuple[int, int], ...]


def job(weeks: int | None = None) -> Job:
    """All weeks, or the first ones."""
    named = next(s for s in streams(None) if s.name == "tail_route")
    cuts: Sequence[Cut] = named.cuts()[:weeks]
    tail, route = cuts[0].stream.columns
    keys = (tail, replace(tail, name="aircraft"), route)
    shapes = tuple(
        replace(key.shape(i, NODES), slots=SLOTS_EACH * NODES) for i, key in enumerate(keys)
    )
    operators = Operators(keys, tuple(key.codes for key in keys), shapes)
    return Job(operators, tuple((cut.start, cut.stop) for cut in cuts))


def apart(of: Job) -> RoutingTables:
    """Spark's routing, but for the second operator's slots, each a node further: nothing of the
    first edge is local."""
    first, second, third = of.operators.shapes
    return RoutingTables(1, QUERY, (empty(first), rolled(second, 1), empty(third)))


def load_distance(loads: FloatArray) -> float:
    """The largest difference from the mean, as a share of it."""
    return float(np.abs(loads - loads.mean()).max() / loads.mean())


def course(
    of: Job, planner: Planner, settings: PlanSettings, tables: RoutingTables, history: int = 4
) -> dict[str, Any]:
    """Plans after each period but the last; figures of each, and of the periods that come next.

    `distance` is right after the migrations, on the period that was planned from; `distance_each`
    that of the operator by itself that is worst. `distance_next` and `collocation` (the share of
    rows that stay, of the first edge and of both) are on the next period. `work` is that of the
    next, as a share of what the first tables would have made of it.
    """
    operators, start = of.operators, tables
    periods: list[Period] = []
    found: dict[str, list[Any]] = {}
    for number, (now, following) in enumerate(itertools.pairwise(of.bounds)):
        periods = [*periods, operators.period(number, tables, *now)][-history:]
        _, planned = operators.plan(planner, periods, tables, settings)
        migrated = moved(tables, planned, periods[-1:]).weight * len(operators.keys)
        local = _local(operators, planned, *following)
        before = _work(operators, _local(operators, start, *following), 0.0)
        step = {
            "distance": load_distance(_loads(operators, planned, *now)),
            "distance_each": max(map(load_distance, operators.loads(planned, *now))),
            "distance_next": load_distance(_loads(operators, planned, *following)),
            "collocation": [local[0], fmean(local)],
            "migrations": _migrations(operators, tables, planned),
            "work": _work(operators, local, migrated) / before,
        }
        for name, value in step.items():
            found.setdefault(name, []).append(value)
        tables = planned
    return found


def _loads(operators: Operators, tables: RoutingTables, start: int, stop: int) -> FloatArray:
    """Rows of each node, of all operators."""
    total: FloatArray = np.sum(operators.loads(tables, start, stop), axis=0)
    return total


def _local(operators: Operators, tables: RoutingTables, start: int, stop: int) -> list[float]:
    at = operators.partitions(tables, start, stop)
    return [float((a == b).mean()) for a, b in itertools.pairwise(at)]


def _work(operators: Operators, local: list[float], migrated: float) -> float:
    """For each row of the stream: handled by each operator, sent where not local, and moved."""
    remote = sum(1 - share for share in local)
    return len(operators.keys) + REMOTE * remote + REMOTE * migrated


def _migrations(operators: Operators, before: RoutingTables, after: RoutingTables) -> int:
    """Key groups that another node has."""
    return sum(
        int((before.group(s).owners() != after.group(s).owners()).sum()) for s in operators.shapes
    )
