"""The default planner: METIS's cut of the key graph, held to every group's capacity.

After Caneill et al. 2016, §3.3, with what was measured to be better on real streams: decayed
history, a capacity for each group in place of one for their sum, names of partitions that keep
keys at home, and the refined table in force as a second candidate.
"""

from __future__ import annotations

import numpy as np

from keyroute.core import score
from keyroute.core.graph import KeyGraph, build
from keyroute.core.plan import CannotPlan, Plan, PlanRequest, PlanSettings
from keyroute.core.table import GroupTable, Int32Array, RoutingTables
from keyroute.planners.assignment import Problem, pose
from keyroute.planners.metis_cut import cut
from keyroute.planners.parts import choose_parts
from keyroute.planners.refine import refine
from keyroute.planners.relabel import relabel

MAX_ENTRIES = 1_000_000
"""Most explicit entries of a group; those of keys that were not counted lately go first."""

EDGES_TO_CUT = 600_000
"""Edges that all cuts of a plan together may have, but for the least number of cuts."""

MIN_SEEDS = 3


def plan_metis(request: PlanRequest) -> Plan:
    """Plans explicit entries for all counted keys. Raises `CannotPlan`."""
    settings = request.settings
    graph = build(request.shapes, request.periods, settings.half_life, settings.load_half_life)
    partitions = _partitions(graph)
    home = _home(graph, request.current)
    problem = pose(graph, partitions, settings.alpha, home, settings.move_cost)
    name, assignment = _best(problem, _seeds(settings, graph.edges))
    groups = tuple(
        _table(graph, index, assignment, request.current) for index in range(len(graph.shapes))
    )
    return _plan(request, problem, assignment, groups, name)


def _partitions(graph: KeyGraph) -> int:
    counts = sorted({s.partitions for s in graph.shapes})
    if len(counts) != 1:
        raise CannotPlan(
            "there is no group to plan for"
            if not counts
            else f"the groups have different numbers of partitions: {counts}"
        )
    if not graph.vertices:
        raise CannotPlan("no keys were counted: no group has routing columns and rows")
    return counts[0]


def _seeds(settings: PlanSettings, edges: int) -> range:
    """Cuts differ by some points of locality, so METIS gets a good part of a second for them.

    It cuts one to two million edges a second.
    """
    affordable = max(MIN_SEEDS, EDGES_TO_CUT // max(edges, 1))
    return range(settings.seed, settings.seed + min(settings.seeds, affordable))


def _home(graph: KeyGraph, current: RoutingTables) -> Int32Array:
    home = np.full(graph.vertices, -1, dtype=np.int32)
    for index, shape in enumerate(graph.shapes):
        members = graph.members(index)
        home[members] = current.group(shape).explicit(graph.fingerprint[members])
    return home


def _best(problem: Problem, seeds: range) -> tuple[str, Int32Array]:
    """The better of a fresh cut and the table in force, both refined, and its name."""
    refined = "the refined table in force" if (problem.home >= 0).any() else "greedy placement"
    candidates = {refined: refine(problem, problem.home)}
    fresh = cut(problem, seeds)
    if fresh is not None:
        named = relabel(fresh, problem.home, problem.graph.weight, problem.partitions)
        candidates["a fresh METIS cut"] = refine(problem, named)
    return max(candidates.items(), key=lambda c: problem.worth(c[1]))


def _table(
    graph: KeyGraph, index: int, assignment: Int32Array, current: RoutingTables
) -> GroupTable:
    """Entries of the assigned keys, and those in force of keys that were not counted lately."""
    shape, members = graph.shapes[index], graph.members(index)
    in_force = current.group(shape)
    absent = ~np.isin(in_force.fingerprints, graph.fingerprint[members])
    fingerprints = graph.fingerprint[members][:MAX_ENTRIES]
    targets = assignment[members][:MAX_ENTRIES]
    room = MAX_ENTRIES - len(fingerprints)
    fingerprints = np.concatenate([fingerprints, in_force.fingerprints[absent][:room]])
    targets = np.concatenate([targets, in_force.targets[absent][:room]])
    order = np.argsort(fingerprints)
    return GroupTable(shape, fingerprints[order], targets[order], in_force.slot_owners)


def _plan(
    request: PlanRequest,
    problem: Problem,
    assignment: Int32Array,
    groups: tuple[GroupTable, ...],
    name: str,
) -> Plan:
    parts = choose_parts(problem, assignment, request.executors, request.current.parts)
    tables = RoutingTables(0, request.query_id, groups, parts)
    loads = problem.loads(assignment)
    predicted = {
        s.group: float(row.max() / row.mean()) if row.any() else 1.0
        for s, row in zip(problem.graph.shapes, loads, strict=True)
    }
    locality = score.locality(tables, request.periods[-1:], request.placed) or 0.0
    total = float(problem.graph.weight.sum())
    moved = problem.moved_weight(assignment) / total if total else 0.0
    return Plan(
        groups=groups,
        parts=parts,
        predicted_locality=locality,
        predicted_imbalance=predicted,
        moved_weight=moved,
        moved_keys=int((problem.home != assignment).sum()),
        why=f"{name} puts {locality:.1%} of the pairs' rows together"
        + _floors(problem, request.settings.alpha),
    )


def _floors(problem: Problem, alpha: float) -> str:
    """What is to be said of groups whose heaviest key alone is above the bound."""
    graph = problem.graph
    mean = graph.group_load / problem.partitions
    hot = np.flatnonzero(problem.capacity > alpha * mean * (1 + 1e-9))
    return "".join(
        f"; group {graph.shapes[i].group} stays at an imbalance of at least "
        f"{problem.capacity[i] / mean[i]:.2f}, because one key has so many rows"
        for i in hot
        if mean[i] > 0
    )
