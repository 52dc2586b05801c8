"""How long plans take beside runs of METIS on the same graph, in one process.

Ratios are of processor time, since all of it is one thread: they hold on a machine that others
use, too. The least of some rounds counts, of METIS's runs (with the seeds that the plan has) as of
plans. Each round plans from new copies of the periods: nothing of a round before helps it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
from planning_time_periods import PARTS, period, places, rearranged

from keyroute import planners
from keyroute.core.compiled import COMPILES
from keyroute.core.graph import history
from keyroute.core.plan import Plan, PlanRequest, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, no_tables
from keyroute.planners.assignment import pose
from keyroute.planners.metis_cut import cut

ROUNDS = 5
PERIODS = 8
KEYS_PER_EDGE = 0.1
ROWS_PER_EDGE = 1.3
CHANGED = 0.2
"""Share of the downstream keys that are in another community after a change."""


@dataclass(frozen=True)
class Case:
    """So many periods of so many pairs in all, with or without counts by slots."""

    name: str
    edges: int
    periods: int
    slots: bool

    def requests(self) -> tuple[tuple[Period, ...], tuple[Period, ...], tuple[Period, ...]]:
        """The periods of a first plan; a period later, with all as it was; and after a change."""
        keys = places(int(self.edges * KEYS_PER_EDGE / 2))
        rows = int(self.edges * ROWS_PER_EDGE / self.periods)
        each = [period(rows, keys, seed, self.slots) for seed in range(self.periods + 1)]
        changed = period(rows, rearranged(keys, CHANGED, 0), self.periods, self.slots)
        return tuple(each[:-1]), tuple(each[1:]), (*each[1:-1], changed)


def times(edges: int) -> dict[str, Any]:
    """Seconds and ratios of a first plan, with full runs of METIS, and of some beside its table."""
    planner = planners.load(planners.DEFAULT)
    small = period(edges // 100, places(edges // 1000), 0, True)
    shapes = tuple(g.shape for g in small.groups)
    request = PlanRequest("q", shapes, (small,), no_tables("q"), settings=PlanSettings())
    # Compiles all loops, or reads them from the disk.
    began = time.perf_counter()
    made = planner(request)
    compile_s = time.perf_counter() - began
    planner(replace(request, current=made.tables(1, "q")))
    return {
        "compiled": COMPILES,
        "small_plan_with_compiling_s": compile_s,
        "cases": [
            _times(Case("one period, no slots", edges, 1, False), request),
            _times(Case(f"{PERIODS} periods, with slots", edges, PERIODS, True), request),
        ],
    }


def _times(case: Case, like: PlanRequest) -> dict[str, Any]:
    planner, settings = planners.load(planners.DEFAULT), like.settings
    first, warm, changed = case.requests()
    shapes = tuple(g.shape for g in first[0].groups)
    graph = history(shapes, first).graph(settings.half_life, settings.load_half_life)
    nowhere = np.full(graph.vertices, -1, np.int32)
    problem = pose(
        graph, np.arange(PARTS, dtype=np.int32), settings.alpha, nowhere, settings.move_cost
    )

    def plan(periods: Sequence[Period], current: RoutingTables) -> Plan:
        copies = tuple(_copied(p) for p in periods)
        return planner(replace(like, shapes=shapes, periods=copies, current=current))

    metis: list[list[float]] = []
    plans: list[list[float]] = []
    for _ in range(ROUNDS):
        metis.append(
            [_timed(cut, problem, range(seed, seed + 1))[0] for seed in settings.metis_seeds]
        )
        first_s, found = _timed(plan, first, no_tables("q"))
        tables = found.tables(1, "q")
        warm_s, of_warm = _timed(plan, warm, tables)
        changed_s, of_changed = _timed(plan, changed, tables)
        plans.append([first_s, warm_s, changed_s])
    metis_s = fmean(np.min(metis, axis=0).tolist())
    first_s, warm_s, changed_s = np.min(plans, axis=0).tolist()
    return {
        "case": case.name,
        "edges": graph.edges,
        "keys": graph.vertices,
        "pairs_of_all_periods": sum(len(e.pairs.counts) for p in first for e in p.edges),
        "rounds": ROUNDS,
        "metis_cpu_s": metis_s,
        "first_plan_cpu_s": first_s,
        "first_plan_metis_runs": settings.seeds,
        "first_plan_for_each_metis_run": first_s / metis_s / settings.seeds,
        "warm_plan_cpu_s": warm_s,
        "warm_plan_to_one_metis_run": warm_s / metis_s,
        "warm_plan": of_warm.why,
        "changed_plan_cpu_s": changed_s,
        "changed_plan_to_one_metis_run": changed_s / metis_s,
        "changed_plan": of_changed.why,
    }


def _copied(of: Period) -> Period:
    """The same counts in objects of their own, for which nothing is kept."""
    edges = tuple(replace(edge) for edge in of.edges)
    return replace(of, groups=tuple(replace(group) for group in of.groups), edges=edges)


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    began = time.process_time()
    made = call(*arguments)
    return time.process_time() - began, made
