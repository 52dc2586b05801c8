"""The heaviest keys of a dump: counts of several periods, labels, partitions by the tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

import streams
from keyroute.core.heavy_keys import heavy_keys
from keyroute.core.statistics import Period
from keyroute.core.table import GroupTable, RoutingTables, no_tables

SHAPE = streams.shape(0)


def _labelled(period: Period, names: dict[int, str]) -> Period:
    groups = []
    for group in period.groups:
        prints = group.keys.fingerprints.tolist()
        keys = replace(group.keys, labels=tuple(names.get(p, "") for p in prints))
        groups.append(replace(group, keys=keys))
    return replace(period, groups=tuple(groups))


def test_periods_are_summed_and_tables_asked() -> None:
    streams_of = [streams.correlated(seed, 4000) for seed in (1, 2)]
    ids = np.concatenate([columns[0] for columns in streams_of])
    prints = streams.fingerprints(0, ids).tolist()
    counts = Counter(prints)
    heaviest, rows = max(counts.items(), key=lambda item: (item[1], -item[0]))
    periods = [streams.count(columns) for columns in streams_of]
    # Only the first period knows what the heaviest key is called.
    periods[0] = _labelled(periods[0], {heaviest: "N12345"})
    table = GroupTable(SHAPE, np.array([heaviest]), np.array([2], np.int32))
    found = heavy_keys(SHAPE, periods, RoutingTables(1, "q", (table,)), 10)
    assert [key.rows for key in found] == sorted(counts.values(), reverse=True)[:10]
    first = found[0]
    assert (first.group, first.fingerprint, first.rows) == (0, heaviest, rows)
    assert (first.label, first.partition, first.share) == ("N12345", 2, rows / 8000)
    assert {key.label for key in found[1:]} == {""}
    murmur = dict(zip(prints, streams.hashes(0, ids).tolist(), strict=True))
    for key in found[1:]:
        assert key.partition == murmur[key.fingerprint] % SHAPE.slots % SHAPE.partitions


def test_rows_that_may_be_another_key_s_do_not_count() -> None:
    period = streams.count(streams.correlated(1, 2000))
    group = period.groups[0]
    heaviest = int(group.keys.counts.argmax())
    errors = np.zeros_like(group.keys.counts)
    errors[heaviest] = group.keys.counts[heaviest] - 1
    unsure = replace(group, keys=replace(group.keys, errors=errors))
    found = heavy_keys(SHAPE, [replace(period, groups=(unsure,))], no_tables("q"), 400)
    (doubtful,) = (k for k in found if k.fingerprint == group.keys.fingerprints[heaviest])
    assert doubtful.rows == 1


def test_a_key_without_a_slot_is_in_no_partition() -> None:
    period = streams.without_slots(streams.count(streams.correlated(1, 500)))
    found = heavy_keys(SHAPE, [period], no_tables("q"), 3)
    assert [key.partition for key in found] == [None] * 3
    assert heavy_keys(SHAPE, [], no_tables("q"), 3) == []
