"""ALBIC: load balance as a mixed-integer program under a migration budget, with collocation.

Madsen, Zhou, Cao, *Integrative Dynamic Reconfiguration in a Parallel Stream Processing Engine*,
2016. Key groups are slots (and entries in force), nodes are partitions. A plan makes all four steps
of the paper; `albic_model`, `albic_units` and `albic_milp` say what departs from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.core.plan import Plan, PlanRequest, PlanSettings, only_options, option, whole_option
from keyroute.core.table import Int32Array
from keyroute.planners.albic_collocation import improve, maintain
from keyroute.planners.albic_greedy import descend, without_load
from keyroute.planners.albic_milp import MAX_VARIABLES, PRECISION, REL_GAP, objective, solve
from keyroute.planners.albic_model import Model, Rates, model, rates
from keyroute.planners.albic_units import Units, units
from keyroute.planners.answer import answer, parts_of
from keyroute.planners.slot_groups import decay, slot_groups

HALVINGS = 2
"""How often the sets' largest load is halved where the load distance is too large."""

FAR = 10.0
"""Times the largest load distance that units can be from it and HiGHS still be asked."""


@dataclass(frozen=True, slots=True)
class Options:
    """The paper's parameters sF, maxPL and maxLD; whether a node has one load of all groups; pairs
    that a plan collocates; seconds that HiGHS has for a plan; rows that a part can take in a period
    (0: not known), and the shares of that above and below which another number of parts is wanted.
    """

    score_factor: float
    max_piece_load: float
    max_load_distance: float
    together: bool
    collocations: int
    time_limit: float
    capacity: float
    scale_out: float
    scale_in: float


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """Node of each key group, its load distance, and for people, how it was found."""

    at: Int32Array
    distance: float
    how: str


def plan_albic(request: PlanRequest) -> Plan:
    """Plans all groups together. Raises `CannotPlan`."""
    options = _options(request.settings)
    weights = decay(request.periods, request.settings.load_half_life)
    groups = slot_groups(request, request.periods, weights)
    posed = model(request, groups.planned, options.together)
    pairs = rates(request, groups.planned, posed.starts, options.score_factor)
    found = _solve(posed, pairs, options, request.settings.max_moved)
    tables = [
        group.moved(found.at[low:high])
        for group, low, high in zip(
            groups.planned, posed.starts[:-1], posed.starts[1:], strict=True
        )
    ]
    tables += groups.kept
    why = _told(posed, found) + _scaling(request, posed, found, options) + groups.note
    return answer(request, tables, parts_of(request, tables), why)


def _options(settings: PlanSettings) -> Options:
    names = (
        "score_factor",
        "max_piece_load",
        "max_load_distance",
        "together",
        "collocations",
        "time_limit",
        "capacity",
        "scale_out",
        "scale_in",
    )
    only_options(settings, "albic", *names)
    return Options(
        score_factor=option(settings, "score_factor", 1.5, 0.0, 1e6),
        max_piece_load=option(settings, "max_piece_load", 0.1, 1e-4, 1.0),
        max_load_distance=option(settings, "max_load_distance", 0.01, 0.0, 1.0),
        together=bool(whole_option(settings, "together", 0, 0, 1)),
        collocations=whole_option(settings, "collocations", 64, 0, 1_000_000),
        time_limit=option(settings, "time_limit", 4.0, 0.1, 600.0),
        capacity=option(settings, "capacity", 0.0, 0.0, math.inf),
        scale_out=option(settings, "scale_out", 0.8, 0.01, 1.0),
        scale_in=option(settings, "scale_in", 0.5, 0.0, 1.0),
    )


def _solve(posed: Model, pairs: Sequence[Rates], options: Options, budget: float) -> _Answer:
    """Steps 2 to 4: with smaller pieces while the load distance is too large, then without new
    pairs, then without sets."""
    attempts = [(2.0**-k, options.collocations) for k in range(HALVINGS + 1)]
    attempts += [(2.0**-HALVINGS, 0), (0.0, 0)]
    if budget <= 0:
        attempts = attempts[-1:]
    best: _Answer | None = None
    left = options.time_limit
    for share, new in attempts:
        piece = np.full(len(posed.load), -1, np.int64)
        if share:
            piece = maintain(posed, pairs, options.max_piece_load * share, budget)
        pins = {**improve(posed, pairs, piece, new, budget), **posed.pins}
        bundled = units(posed, piece, pins)
        found = _attempt(posed, bundled, budget, options, left / 2, last=not share)
        left /= 2
        if best is None or found.distance < best.distance:
            best = found
        if best.distance <= options.max_load_distance:
            break
    assert best is not None
    return best


def _attempt(
    posed: Model, bundled: Units, budget: float, options: Options, seconds: float, last: bool
) -> _Answer:
    """The best of descent, the program's solution, and descent from that.

    The program is not asked where descent is far from the largest load distance, for then it is the
    units that are too large; at the last it is.
    """
    first = descend(posed, bundled, budget, PRECISION)
    candidates = [first]
    near = FAR * options.max_load_distance
    if not last and posed.distance(bundled.spread(posed, first)) > near:
        how = "by descent: the sets are too large"
    elif len(bundled.home) * posed.nodes > MAX_VARIABLES:
        how = "by descent: there is too much for HiGHS"
    else:
        solved = solve(posed, bundled, budget, seconds, objective(posed, bundled, first))
        if solved is None:
            how = "by descent: HiGHS had no better one in time"
        else:
            done = solved.gap <= REL_GAP
            how = "HiGHS came to its end" if done else f"HiGHS stopped at a gap of {solved.gap:.0%}"
            candidates += [solved.at, descend(posed, bundled, budget, PRECISION, solved.at)]
    best = min(candidates, key=lambda c: objective(posed, bundled, c))
    at = without_load(posed, bundled, budget, best)
    spread = bundled.spread(posed, at)
    return _Answer(spread, posed.distance(spread), how)


def _told(posed: Model, found: _Answer) -> str:
    moved = int((found.at != posed.home).sum())
    return f"albic: load distance {found.distance:.2%} ({found.how}), {moved} key groups move"


def _scaling(request: PlanRequest, posed: Model, found: _Answer, options: Options) -> str:
    """Algorithm 1: whether another number of parts is wanted, judged by the plan."""
    if not options.capacity or not request.periods:
        return ""
    parts = request.current.parts or tuple(range(posed.nodes))
    now = len(set(parts) - request.leaving)
    rows = sum(g.rows for g in request.periods[-1].groups)
    load = rows / options.capacity
    enough = max(1, math.ceil(load / options.scale_out))
    if load > options.scale_out * now:
        return f"; scale out: the load is {load / now:.0%} of {now} parts, {enough} are wanted"
    if load < options.scale_in * now and enough < now:
        if found.distance > options.max_load_distance:
            return "; scaling in must wait: the load cannot be balanced well enough"
        return f"; scale in: the load is {load / now:.0%} of {now} parts, {enough} are enough"
    return ""
