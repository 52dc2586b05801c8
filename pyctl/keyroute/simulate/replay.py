"""Asks a planner after each period and measures its tables on the next."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from keyroute.core.plan import Planner, PlanRequest, PlanSettings
from keyroute.core.statistics import Period, imbalance
from keyroute.core.table import GroupShape, Int32Array, RoutingTables, no_tables
from keyroute.simulate.counting import count, targets
from keyroute.simulate.result import Measure, Step
from keyroute.simulate.stream import QUERY, BadStream, Cut, edges

HISTORY = 16
"""Periods that a planner gets at most, the newest: as many as a driver keeps by default."""


@dataclass(frozen=True)
class Setup:
    """How a stream is replayed. `parts` is the number of partitions, each on an executor."""

    planner: Planner
    parts: int
    plan: PlanSettings = field(default_factory=PlanSettings)
    clock: Callable[[], float] = time.perf_counter


def replay(cuts: Sequence[Cut], setup: Setup) -> Iterator[Step]:
    """One step for each period but the last. Raises `BadStream`, `CannotPlan`."""
    if len(cuts) < 2:
        raise BadStream(
            f"the stream is {len(cuts)} period long: tables planned on one are measured on the "
            "next, so take shorter periods"
        )
    if setup.parts < 2:
        raise BadStream("at least two parts are needed: with one, all is local")
    columns = cuts[0].stream.columns
    shapes = tuple(c.shape(group, setup.parts) for group, c in enumerate(columns))
    nothing = no_tables(QUERY)
    tables, predicted = nothing, None
    periods: list[Period] = []
    seen = [np.zeros(len(column.values), dtype=bool) for column in columns]
    for number, (now, following) in enumerate(itertools.pairwise(cuts)):
        periods = [*periods, count(number, now, shapes, tables)][-HISTORY:]
        for index in range(len(columns)):
            seen[index][now.codes(index)] = True
        began = setup.clock()
        plan = setup.planner(_request(shapes, periods, tables, setup))
        took = setup.clock() - began
        planned = plan.tables(number + 1, QUERY)
        old, new = targets(now, shapes, tables), targets(now, shapes, planned)
        moved = [(a != b) & known for a, b, known in zip(old, new, seen, strict=True)]
        step = Step(
            period=number,
            begins=str(np.datetime64(now.begins, "ns").astype("datetime64[s]")),
            rows=int(now.weights.sum()),
            same=measure(now, shapes, planned),
            next=measure(following, shapes, planned),
            hash=measure(following, shapes, nothing),
            predicted=predicted,
            moved_keys=sum(int(m.sum()) for m in moved),
            moved_weight=_share(now, moved),
            plan_s=took,
            why=plan.why,
        )
        yield step
        tables, predicted = planned, step.next.locality


def measure(cut: Cut, shapes: tuple[GroupShape, ...], tables: RoutingTables) -> Measure:
    """What tables bring on a period, row by row."""
    where = targets(cut, shapes, tables)
    weights = cut.weights
    local = [
        float(weights[where[a][cut.codes(a)] == where[b][cut.codes(b)]].sum())
        for a, b in edges(len(shapes))
    ]
    total = float(weights.sum()) * len(local)
    return Measure(
        locality=sum(local) / total if total else 0.0,
        imbalance=tuple(
            imbalance(np.bincount(w, cut.rows_of_values(i), shape.partitions))
            for i, (w, shape) in enumerate(zip(where, shapes, strict=True))
        ),
    )


def _request(
    shapes: tuple[GroupShape, ...], periods: list[Period], tables: RoutingTables, setup: Setup
) -> PlanRequest:
    return PlanRequest(QUERY, shapes, tuple(periods), tables, settings=setup.plan)


def _share(cut: Cut, moved: list[Int32Array]) -> float:
    """Of the operators' rows in a period, whose key is among those moved."""
    rows = [cut.rows_of_values(index) for index in range(len(moved))]
    total = sum(float(r.sum()) for r in rows)
    return (
        sum(float(r[m].sum()) for r, m in zip(rows, moved, strict=True)) / total if total else 0.0
    )
