"""How long plans take beside one run of METIS on the same graph, in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from keyroute import planners
from keyroute.core.graph import history
from keyroute.core.plan import PlanRequest, PlanSettings
from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
)
from keyroute.core.table import GroupShape, default_slots, no_tables
from keyroute.planners.assignment import pose
from keyroute.planners.compiled import COMPILES
from keyroute.planners.metis_cut import cut

PARTS = 6
COMMUNITIES = 500
LOYALTY = 0.6
KEYS_PER_EDGE = 0.1


def times(edges: int) -> dict[str, Any]:
    """Seconds and ratios: a first plan, which runs METIS in full, and one beside its table."""
    planner = planners.load(planners.DEFAULT)
    settings = PlanSettings()
    warm_up = _period(edges // 100, 3)
    shapes = tuple(g.shape for g in warm_up.groups)
    small = PlanRequest("q", shapes, (warm_up,), no_tables("q"), settings=settings)
    # Compiles all loops, or reads them from the disk.
    compile_s, made = _timed(lambda: planner(small))
    planner(replace(small, current=made.tables(1, "q")))
    request = replace(small, periods=(_period(edges, 1),))
    graph = history(shapes, request.periods).graph(1.0, settings.load_half_life)
    nowhere = np.full(graph.vertices, -1, np.int32)
    problem = pose(graph, PARTS, settings.alpha, nowhere, settings.move_cost)
    metis_s, _ = _timed(lambda: cut(problem, range(1)))
    first_s, first = _timed(lambda: planner(request))
    after = replace(request, periods=(_period(edges, 2),), current=first.tables(1, "q"))
    warm_s, _ = _timed(lambda: planner(after))
    return {
        "edges": graph.edges,
        "keys": graph.vertices,
        "compiled": COMPILES,
        "small_plan_with_compiling_s": compile_s,
        "metis_s": metis_s,
        "first_plan_s": first_s,
        "first_plan_metis_runs": settings.seeds,
        "first_plan_for_each_metis_run": first_s / metis_s / settings.seeds,
        "warm_plan_s": warm_s,
        "warm_plan_to_one_metis_run": warm_s / metis_s,
    }


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    made = call()
    return time.perf_counter() - began, made


def _period(edges: int, seed: int) -> Period:
    """Two operators whose keys are in communities, some keys of each much heavier than others."""
    rng = np.random.default_rng(seed)
    keys = max(int(edges * KEYS_PER_EDGE / 2), COMMUNITIES)
    each = keys // COMMUNITIES
    rows = int(edges * 1.3)
    home = rng.integers(0, COMMUNITIES, rows)
    other = np.where(rng.random(rows) < LOYALTY, home, rng.integers(0, COMMUNITIES, rows))
    up, down = (of * each + (rng.random(rows) ** 2 * each).astype(int) for of in (home, other))
    weights = rng.integers(1, 20, rows)
    pairs, inverse = np.unique(up * keys + down, return_inverse=True)
    counts = np.bincount(inverse, weights).astype(np.int64)
    ends = (pairs // keys, pairs % keys)
    groups = tuple(_group(g, ids, counts) for g, ids in enumerate(ends))
    prints = [_fingerprints(g, ids) for g, ids in enumerate(ends)]
    total = int(counts.sum())
    listed = PairCounts(total, prints[0], prints[1], counts, np.zeros_like(counts))
    return Period(0, 0, 0, total, groups, (EdgeStatistics(0, 1, total, 0, listed),))


def _group(group: int, ids: np.ndarray, counts: np.ndarray) -> GroupStatistics:
    keys, inverse = np.unique(ids, return_inverse=True)
    rows = np.bincount(inverse, counts).astype(np.int64)
    slots = default_slots(PARTS)
    shape = GroupShape(group, (group,), PARTS, slots, (0,), ("k",), ("BIGINT",))
    total = int(rows.sum())
    listed = KeyCounts(total, _fingerprints(group, keys), rows, np.zeros_like(rows))
    nothing = np.empty(0, np.int64)
    return GroupStatistics(shape, total, nothing, nothing, 0, listed)


def _fingerprints(group: int, ids: np.ndarray) -> np.ndarray:
    return (ids + 1 + 1_000_003 * group) * np.int64(0x1E3779B97F4A7C15)
