"""The default planner: METIS's cut of the key graph, made to last.

After Caneill et al. 2016, §3.3, with what was measured to be better on real streams: history whose
half-life is chosen by back-test, capacities for each group in place of one for their sum, the
refined table in force as a second candidate, names of partitions that keep keys at home, and a
place at first sight for keys that come up between plans. See docs/planning.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from keyroute.core.distinct import Positions
from keyroute.core.graph import KeyGraph, KeyHistory, history
from keyroute.core.plan import (
    CannotPlan,
    Plan,
    PlanRequest,
    PlanSettings,
    only_options,
    option,
    whole_option,
)
from keyroute.core.sites import ANYWHERE, key_slots
from keyroute.core.table import GroupTable, Int32Array, RoutingTables
from keyroute.planners.answer import answer, parts_of
from keyroute.planners.assignment import Problem, parts_of_keys, pose
from keyroute.planners.backtest import best_half_life
from keyroute.planners.budget import within
from keyroute.planners.first_sight import place_new
from keyroute.planners.metis_cut import cut, cut_contracted
from keyroute.planners.parts import parts_to_fill
from keyroute.planners.refine import refine, settle
from keyroute.planners.relabel import relabel

MAX_ENTRIES = 1_000_000
"""Most explicit entries of a group; those of keys that were not counted lately go first."""

KNOWN = 0.5
"""Share of the keys' weight that must have an entry for the table in force to be built on."""

STIRRED = 0.03
"""Share of the keys' weight that the table in force, refined, must move or place before a fresh cut
is worth its time."""

_REFINED = "the refined table in force"


class MetisPlanner:
    """Full plans by the call, and `between` for what comes up until the next one."""

    def __call__(self, request: PlanRequest) -> Plan:
        """Plans explicit entries for all counted keys. Raises `CannotPlan`."""
        settings = _own(request.settings)
        known = history(request.shapes, request.periods)
        parts = parts_to_fill(request, _partitions(known))
        home = _home(known, request.current)
        at = parts_of_keys(parts, home)
        half_life = best_half_life(
            known, settings.half_lives, at, int(parts.max()) + 1, settings.half_life
        )
        graph = known.graph(half_life, settings.load_half_life)
        problem = pose(graph, parts, settings.alpha, home, settings.move_cost)
        name, found = _best(problem, settings)
        if settings.max_moved < 1.0:
            now = _now(known, request, home)
            found = within(problem, found, settings.max_moved, now)
        return _plan(request, problem, found, name + _remembered(half_life))

    def between(self, request: PlanRequest) -> Plan:
        """Entries for keys of the last period that have none yet; all others stay."""
        known = history(request.shapes, request.periods[-2:])
        parts = parts_to_fill(request, _partitions(known))
        settings = _own(request.settings)
        graph = known.graph(np.inf, settings.load_half_life)
        home = _home(known, request.current)
        problem = pose(graph, parts, settings.alpha, home, 0.0)
        assignment = place_new(problem, graph.newest_load)
        new = int(((home < 0) & (assignment >= 0)).sum())
        groups = _tables(graph, assignment, request.current)
        why = f"{new:,} new keys go where most of their pairs' rows are"
        return replace(answer(request, groups, request.current.parts, why), moved_keys=new)


plan_metis = MetisPlanner()


def _own(settings: PlanSettings) -> PlanSettings:
    """The settings with metis's own options. Raises `BadOption`."""
    only_options(settings, "metis", "half_life", "load_half_life", "move_cost", "seeds", "seed")
    half_life = option(settings, "half_life", settings.half_life, 0.0, np.inf)
    return replace(
        settings,
        half_life=half_life,
        half_lives=(half_life,) if "half_life" in settings.options else settings.half_lives,
        load_half_life=option(settings, "load_half_life", settings.load_half_life, 0.0, np.inf),
        move_cost=option(settings, "move_cost", settings.move_cost, 0.0, 1.0),
        seeds=whole_option(settings, "seeds", settings.seeds, 1, 100),
        seed=whole_option(settings, "seed", settings.seed, 0, 1_000_000),
    )


def _remembered(half_life: float) -> str:
    if half_life == 0:
        return " of the last period"
    return " of all periods" if np.isinf(half_life) else f" with a half-life of {half_life:g}"


def _partitions(known: KeyHistory) -> int:
    counts = sorted({s.partitions for s in known.shapes})
    if len(counts) != 1:
        raise CannotPlan(
            "there is no group to plan for"
            if not counts
            else f"the groups have different numbers of partitions: {counts}"
        )
    if not len(known.group):
        raise CannotPlan("no keys were counted: no group has routing columns and rows")
    return counts[0]


def _home(known: KeyHistory, current: RoutingTables) -> Int32Array:
    home = np.full(len(known.group), -1, dtype=np.int32)
    for index, shape in enumerate(known.shapes):
        members = known.members(index)
        home[members] = current.group(shape).explicit(known.fingerprint[members])
    return home


def _now(known: KeyHistory, request: PlanRequest, home: Int32Array) -> Int32Array:
    """Where each key goes (V,): by its entry, or by its slot; -1 where that is not known."""
    now = home.copy()
    for index, shape in enumerate(known.shapes):
        members = known.members(index)
        slot = key_slots(shape.group, request.periods).find(known.fingerprint[members])
        by_slot = np.where(slot == ANYWHERE, -1, request.current.group(shape).owners()[slot])
        now[members] = np.where(home[members] >= 0, home[members], by_slot)
    return now


def _best(problem: Problem, settings: PlanSettings) -> tuple[str, Int32Array]:
    """The best of a fresh cut and the table in force, both refined, and its name.

    METIS cuts all keys where there is no table to build on. Later it only cuts clusters of them:
    that is as good beside the table in force, and much faster. A stream that has hardly changed is
    not cut at all: what there is to gain, the refined table has.
    """
    weight, home = problem.graph.weight, problem.home
    candidates: dict[str, Int32Array] = {}
    if weight[home >= 0].sum() > KNOWN * weight.sum():
        refined = refine(problem, home)
        if problem.moved_weight(refined) < STIRRED * weight.sum():
            return _REFINED, refined
        candidates[_REFINED] = refined
        fresh = cut_contracted(problem, settings.metis_seeds[:1])
    else:
        fresh = cut(problem, settings.metis_seeds)
    if fresh is not None:
        sizes = np.bincount(problem.parts)
        named = settle(problem, relabel(fresh, problem.part_of(home), weight, sizes))
        candidates["a fresh METIS cut"] = refine(problem, named)
    if not candidates:
        candidates["greedy placement"] = refine(problem, home)
    return max(candidates.items(), key=lambda c: problem.worth(c[1]))


def _tables(
    graph: KeyGraph, assignment: Int32Array, current: RoutingTables
) -> tuple[GroupTable, ...]:
    return tuple(_table(graph, i, assignment, current) for i in range(len(graph.shapes)))


def _table(
    graph: KeyGraph, index: int, assignment: Int32Array, current: RoutingTables
) -> GroupTable:
    """Entries of the assigned keys, and those in force of keys that were not counted lately."""
    shape, members = graph.shapes[index], graph.members(index)
    in_force = current.group(shape)
    placed = np.flatnonzero(assignment[members] >= 0)
    if len(placed) > MAX_ENTRIES:
        heaviest = np.argsort(-graph.weight[members][placed], kind="stable")
        placed = np.sort(placed[heaviest[:MAX_ENTRIES]])
    fingerprints = graph.fingerprint[members][placed]
    absent = Positions(fingerprints)(in_force.fingerprints) < 0
    room = MAX_ENTRIES - len(placed)
    fingerprints = np.concatenate([fingerprints, in_force.fingerprints[absent][:room]])
    targets = np.concatenate([assignment[members][placed], in_force.targets[absent][:room]])
    order = np.argsort(fingerprints)
    return GroupTable(shape, fingerprints[order], targets[order], in_force.slot_owners)


def _plan(request: PlanRequest, problem: Problem, assignment: Int32Array, name: str) -> Plan:
    graph = problem.graph
    groups = _tables(graph, assignment, request.current)
    pairs = float(graph.edge_weight.sum())
    why = f"{name}, for balance alone: no pairs of keys were counted"
    if pairs:
        together = problem.local_weight(assignment) / pairs
        why = f"{name} puts {together:.1%} of the pairs' rows together"
    return answer(request, groups, parts_of(request, groups), why)
