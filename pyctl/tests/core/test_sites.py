"""With slots counted, scores and moves are what routing row by row comes to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streams
from keyroute.core import score
from keyroute.core.moves import moved
from keyroute.core.sites import key_slots
from keyroute.core.statistics import KeyCounts, PairCounts, Period
from keyroute.core.table import GroupTable, RoutingTables, no_tables

KEYS = 60


def table(rng: np.random.Generator, group: int, n: int, entries: int) -> GroupTable:
    shape = streams.shape(group, n)
    prints = np.sort(streams.fingerprints(group, rng.choice(KEYS, entries, replace=False)))
    owners = rng.integers(0, n, shape.slots).astype(np.int32)
    return GroupTable(shape, prints, rng.integers(0, n, entries).astype(np.int32), owners)


def tables(rng: np.random.Generator, n: int, entries: int) -> RoutingTables:
    return RoutingTables(1, "q", tuple(table(rng, g, n, entries) for g in (0, 1)))


def columns(rng: np.random.Generator, rows: int = 300) -> tuple[streams.Ids, streams.Ids]:
    a = rng.zipf(1.3, rows) % KEYS
    return a, (a + (rng.random(rows) < 0.4) * rng.integers(0, KEYS, rows)) % KEYS


def routed(of: RoutingTables, rows: tuple[streams.Ids, ...], n: int) -> list[streams.Ids]:
    return [
        of.group(streams.shape(g, n)).route(streams.hashes(g, ids), streams.fingerprints(g, ids))
        for g, ids in enumerate(rows)
    ]


def test_of_several_slots_of_a_key_the_first_that_is_known_counts() -> None:
    older, newer = (streams.count(columns(np.random.default_rng(i))) for i in range(2))
    (group, other), keys = older.groups, older.groups[0].keys
    elsewhere = replace(group, keys=replace(keys, slots=keys.slots + 1))
    found = key_slots(0, [replace(older, groups=(elsewhere, other)), older, newer])
    both = np.concatenate([keys.fingerprints, newer.groups[0].keys.fingerprints])
    assert found.fingerprints.tolist() == sorted(set(both))
    assert (found.find(keys.fingerprints) == keys.slots + 1).all()
    alone = np.setdiff1d(both, keys.fingerprints)
    assert (found.find(alone) == key_slots(0, [newer]).find(alone)).all()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(0, KEYS))
def test_partitions_locality_and_moves_are_exact(seed: int, n: int, entries: int) -> None:
    rng = np.random.default_rng(seed)
    rows = columns(rng)
    before, after = tables(rng, n, entries), tables(rng, n, KEYS - entries)
    period = streams.count(rows, before, n)
    old, new = routed(before, rows, n), routed(after, rows, n)
    for group, where in zip(period.groups, new, strict=True):
        loads = score.partition_rows(after, group, period)
        assert loads == pytest.approx(np.bincount(where, minlength=n))
    assert score.locality(after, [period]) == pytest.approx(float((new[0] == new[1]).mean()))
    change = moved(before, after, [period])
    assert change.weight == pytest.approx(np.mean([a != b for a, b in zip(old, new, strict=True)]))
    keys = sum(len(np.unique(ids[a != b])) for ids, a, b in zip(rows, old, new, strict=True))
    unseen = sum(
        int((t.explicit(f) != u.explicit(f)).sum())
        for t, u, ids, g in zip(before.groups, after.groups, rows, (0, 1), strict=True)
        for f in [streams.fingerprints(g, np.setdiff1d(np.arange(KEYS), ids))]
    )
    assert change.keys == keys + unseen


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(0, 20))
def test_rows_are_kept_whatever_the_sketches_lost(seed: int, kept: int) -> None:
    rng = np.random.default_rng(seed)
    period = _forgetful(streams.count(columns(rng)), kept)
    after = tables(rng, 3, 30)
    for group in period.groups:
        assert score.partition_rows(after, group, period).sum() == pytest.approx(group.rows)
    (rows,) = score.between_partitions(after, [period])
    assert rows.sum() == pytest.approx(period.edges[0].rows)
    assert 0 <= moved(no_tables("q"), after, [period]).weight <= 1 + 1e-9


def test_only_slots_that_change_their_owner_move_rows() -> None:
    period = streams.count((np.array([1, 1, 2, 3]), np.array([7, 7, 7, 8])))
    shape = period.groups[0].shape
    owners = np.arange(shape.slots) % 3
    slot = int(np.mod(streams.hashes(0, np.array([1]))[0], shape.slots))
    owners[slot] = (owners[slot] + 1) % 3
    none = np.empty(0, np.int64)
    moving = GroupTable(shape, none, none, owners)
    change = moved(no_tables("q"), RoutingTables(1, "q", (moving,)), [period])
    assert (change.weight, change.keys) == (2 / 8, 1)


def test_a_group_without_known_slots_is_spread_evenly_though_its_slots_were_counted() -> None:
    period = streams.without_slots(streams.count((np.array([1, 1, 2, 3]),)))
    assert score.expected_imbalance(no_tables("q"), [period]) == {0: 1.0}


def _forgetful(period: Period, kept: int) -> Period:
    """As with sketches of so few counters."""
    groups = tuple(replace(g, keys=_first(g.keys, kept)) for g in period.groups)
    edges = tuple(replace(e, pairs=_first_pairs(e.pairs, kept)) for e in period.edges)
    return replace(period, groups=groups, edges=edges)


def _first(keys: KeyCounts, kept: int) -> KeyCounts:
    at = np.argsort(-keys.counts, kind="stable")[:kept]
    arrays = (keys.fingerprints, keys.counts, keys.errors)
    return KeyCounts(keys.rows, *(a[at] for a in arrays), slots=keys.slots[at])


def _first_pairs(pairs: PairCounts, kept: int) -> PairCounts:
    at = np.argsort(-pairs.counts, kind="stable")[:kept]
    arrays = (pairs.upstream, pairs.downstream, pairs.counts, pairs.errors)
    return PairCounts(pairs.rows, *(a[at] for a in arrays))
