"""AutoFlow: its algorithm step by step, and its plans."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streams
from keyroute import planners
from keyroute.core.plan import CannotPlan, Plan, PlanRequest, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import GroupTable, RoutingTables, no_tables
from keyroute.planners.autoflow import Budget, migrate

ROWS = 20_000


def plan(
    *periods: Period, current: RoutingTables | None = None, max_moved: float = 1.0, **options: float
) -> Plan:
    shapes = tuple(g.shape for g in periods[-1].groups)
    settings = PlanSettings(options=options, max_moved=max_moved)
    request = PlanRequest("q", shapes, periods, current or no_tables("q"), settings=settings)
    return planners.load("autoflow")(request)


def skewed(seed: int, exponent: float = 0.9, shift: int = 0) -> streams.Ids:
    p = np.arange(1, 1_001) ** -exponent
    return np.random.default_rng(seed).choice(1_000, ROWS, p=p / p.sum()) + shift


def literally(slot_count: dict[int, dict[int, float]], factor: float) -> tuple[int, int, list[int]]:
    """Algorithm 3 as printed."""
    total_count = {worker: sum(slots.values()) for worker, slots in slot_count.items()}
    max_id = max(total_count, key=lambda w: total_count[w])
    min_id = min(total_count, key=lambda w: total_count[w])
    migrated = []
    diff = total_count[max_id] - total_count[min_id]
    if total_count[max_id] and diff / total_count[max_id] >= factor:
        gap = diff / 2
        left = dict(slot_count[max_id])
        while gap > 0 and left:
            slot = max(left, key=lambda s: left[s])
            if gap >= left[slot] > 0:
                migrated.append(slot)
                gap -= left[slot]
            left.pop(slot)
    return max_id, min_id, migrated


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 30), min_size=4, max_size=20),
    st.integers(2, 4),
    st.floats(0, 1),
    st.integers(0, 2**32 - 1),
)
def test_a_step_is_the_papers(counts: list[int], n: int, factor: float, seed: int) -> None:
    at = np.random.default_rng(seed).integers(0, n, len(counts)).astype(np.int32)
    workers: dict[int, dict[int, float]] = {w: {} for w in range(n)}
    for slot, (worker, rows) in enumerate(zip(at.tolist(), counts, strict=True)):
        workers[worker][slot] = rows
    _, emptiest, expected = literally(workers, factor)
    moved = migrate(np.array(counts, float), at, n, factor, Budget(np.inf))
    assert moved.tolist() == expected
    assert (at[moved] == emptiest).all()


def test_a_hotspot_is_spread() -> None:
    period = streams.count((skewed(1),), n=5)
    assert period.groups[0].partition_rows.max() > 1.1 * ROWS / 5
    planned = plan(period)
    assert planned.worst_imbalance < 1.05
    assert planned.groups[0].entries == 0
    assert planned.moved_weight < 0.25


def test_one_round_touches_two_partitions() -> None:
    period = streams.count((skewed(1),), n=5)
    planned = plan(period, rounds=1)
    before = period.groups[0].shape
    changed = planned.groups[0].owners() != np.arange(before.slots) % 5
    assert len(set(planned.groups[0].owners()[changed])) == 1
    assert planned.worst_imbalance > plan(period).worst_imbalance


def test_within_the_factor_nothing_moves() -> None:
    period = streams.count((skewed(1),), n=5)
    assert plan(period, factor=0.9).moved_weight == 0


def test_the_window_forgets_and_smooths() -> None:
    old, new = (streams.count((skewed(s, shift=500 * s),), n=5) for s in (1, 2))
    assert plan(old, new).groups == plan(new).groups
    assert plan(old, new, window=2).groups != plan(new).groups


def test_the_budget_is_kept() -> None:
    planned = plan(streams.count((skewed(1, 1.2),), n=5), max_moved=0.02)
    assert 0 < planned.moved_weight <= 0.02


def test_entries_in_force_are_slots_of_one_key() -> None:
    # All heavy keys on partition 0, by entries: they leave it, and those that come home lose them.
    ids = skewed(3)
    shape = streams.shape(0, 4)
    prints = np.sort(streams.fingerprints(0, np.arange(40)))
    table = GroupTable(shape, prints, np.zeros(40, np.int32))
    current = RoutingTables(1, "q", (table,))
    planned = plan(streams.count((ids,), current, 4), current=current)
    assert planned.worst_imbalance < 1.06
    after = planned.groups[0]
    dropped = prints[~np.isin(prints, after.fingerprints)]
    assert len(after.fingerprints[after.targets != 0]) > 5
    assert len(dropped) > 0
    routed = planned.tables(2, "q").group(shape)
    away = [i for i in range(40) if streams.fingerprints(0, np.array([i]))[0] in set(dropped)]
    where = routed.route(streams.hashes(0, np.array(away)), streams.fingerprints(0, np.array(away)))
    assert (where != 0).all()


def test_groups_whose_slots_mean_another_thing_later_keep_their_tables() -> None:
    period = streams.count((skewed(1), skewed(2)))
    first = period.groups[0]
    keys = replace(first.keys, slots=np.empty(0, np.int64))
    windowed = replace(first, shape=replace(first.shape, stable_slots=False), keys=keys)
    mixed = replace(period, groups=(windowed, period.groups[1]))
    planned = plan(mixed)
    assert planned.groups[0].slot_owners is None
    assert planned.groups[1].slot_owners is not None
    assert planned.why.endswith("group 0 keeps its table: its key holds a window")
    with pytest.raises(CannotPlan, match="group 0 keeps its table: its key holds a window"):
        plan(replace(period, groups=(windowed,), edges=()))
    with pytest.raises(CannotPlan, match="its slots were not counted"):
        plan(streams.without_slots(period))
