"""Counted keys: every key of a sketch or a pair, and which key each pair has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core.counted import counted_keys, keys_of_pairs, rows_of_keys
from keyroute.core.statistics import KeyCounts, Period

COLUMNS = streams.correlated(3, 9_000)


def with_short_sketches(period: Period) -> Period:
    """Half of the keys are in their group's sketch, all are in pairs."""
    groups = []
    for group in period.groups:
        keys, half = group.keys, slice(None, None, 2)
        short = KeyCounts(keys.rows, keys.fingerprints[half], keys.counts[half], keys.errors[half])
        groups.append(replace(group, keys=short))
    return replace(period, groups=tuple(groups))


@pytest.mark.parametrize("short", [False, True])
def test_pairs_keep_their_keys(short: bool) -> None:
    period = streams.count(COLUMNS)
    period = with_short_sketches(period) if short else period
    (edge,) = period.edges
    ends = keys_of_pairs(edge, period)
    for (keys, at), pairs in zip(ends, (edge.pairs.upstream, edge.pairs.downstream), strict=True):
        assert (np.diff(keys) > 0).all()
        assert (keys[at] == pairs).all()


@pytest.mark.parametrize("short", [False, True])
def test_a_key_has_the_rows_of_its_pairs_where_no_sketch_has_it(short: bool) -> None:
    period = streams.count(COLUMNS)
    period = with_short_sketches(period) if short else period
    for group, ids in enumerate(COLUMNS):
        prints, counts = np.unique(streams.fingerprints(group, ids), return_counts=True)
        keys, rows = rows_of_keys(group, period)
        assert keys.tolist() == prints.tolist()
        assert rows.tolist() == counts.tolist()


def sampled(every: int) -> Period:
    """The upstream group's keys and the pairs each of other rows, as two exchanges sample them."""
    keys, pairs = (
        streams.count(tuple(ids[offset::every] for ids in COLUMNS)) for offset in range(2)
    )
    (group, below), (edge,) = keys.groups, pairs.edges
    group = replace(group, keys=replace(group.keys, counts=every * group.keys.counts))
    edge = replace(edge, pairs=replace(edge.pairs, counts=every * edge.pairs.counts))
    return replace(keys, groups=(group, below), edges=(edge,))


@pytest.mark.parametrize("every", [8, 150])
def test_rows_of_keys_sum_up_to_the_groups_where_tasks_sample(every: int) -> None:
    _, rows = rows_of_keys(0, sampled(every))
    assert rows.sum() == pytest.approx(len(COLUMNS[0]), rel=0.02)


def test_what_is_kept_cannot_be_written() -> None:
    period = streams.count(COLUMNS)
    counted = counted_keys(0, [period])
    for array in (counted.fingerprints, counted.rows, counted.upstream[period.edges[0]]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("short", [False, True])
def test_keys_of_some_periods_are_those_of_each(short: bool) -> None:
    periods = [streams.count(tuple(ids[i::3] for ids in COLUMNS)) for i in range(3)]
    periods = [with_short_sketches(p) if short else p for p in periods]
    for group in range(2):
        counted = counted_keys(group, periods)
        each = [rows_of_keys(group, period) for period in periods]
        assert counted.fingerprints.tolist() == sorted(set(np.concatenate([k for k, _ in each])))
        for rows, (keys, alone) in zip(counted.rows, each, strict=True):
            assert (rows[np.isin(counted.fingerprints, keys)] == alone).all()
            assert rows.sum() == alone.sum()
        at = (counted.upstream, counted.downstream)[group]
        for (edge,) in (period.edges for period in periods):
            pairs = (edge.pairs.upstream, edge.pairs.downstream)[group]
            assert (counted.fingerprints[at[edge]] == pairs).all()
