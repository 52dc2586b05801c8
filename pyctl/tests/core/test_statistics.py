"""Statistics from bytes: arrays that fit each other, or a clear refusal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from keyroute.core.statistics import imbalance
from keyroute.core.statistics_codec import InvalidStatistics, decode
from keyroute.core.table_codec import shape_to_proto
from keyroute.v1.statistics_pb2 import QueryStatistics
from streams import shape


def message() -> QueryStatistics:
    made = QueryStatistics(format=1, query_id="q", table_version=2, batch=7)
    period = made.periods.add(first_batch=3, last_batch=6, table_version=2, rows=10)
    group = period.groups.add(shape=shape_to_proto(shape(0)), rows=10, partition_rows=[5, 3, 2])
    group.keys.fingerprints.extend([-1, 7])
    group.keys.counts.extend([6, 4])
    group.keys.errors.extend([0, 1])
    group.keys.slots.extend([1025, 0])
    group.partition_ms.extend([9, 8, 7])
    group.sources.upstream.append(4)
    group.sources.downstream.append(-1)
    group.sources.counts.append(6)
    group.sources.errors.append(0)
    edge = period.edges.add(upstream_group=0, downstream_group=1, rows=10, local_rows=4)
    edge.pairs.upstream.append(-1)
    edge.pairs.downstream.append(9)
    edge.pairs.counts.append(6)
    edge.pairs.errors.append(0)
    edge.slot_pairs.upstream.append(1025)
    edge.slot_pairs.downstream.append(3)
    edge.slot_pairs.rows.append(10)
    return made


def test_bytes_become_arrays() -> None:
    statistics = decode(message().SerializeToString())
    (period,) = statistics.periods
    assert statistics.shapes == (shape(0),)
    assert period.measured_locality() == 0.4
    assert period.groups[0].keys.fingerprints.tolist() == [-1, 7]
    assert period.groups[0].partition_rows.tolist() == [5, 3, 2]
    assert period.groups[0].keys.slots.tolist() == [1025, 0]
    assert period.groups[0].partition_ms.tolist() == [9, 8, 7]
    assert period.groups[0].sources.upstream.tolist() == [4]
    assert period.edges[0].pairs.upstream.tolist() == [-1]
    assert period.edges[0].slot_pairs.rows.tolist() == [10]


def test_executors_are_numbered_where_each_partition_was_seen() -> None:
    made = message()
    for partition, executor in ((2, "b"), (0, "b")):
        made.placement.add(group=0, partition=partition, executor=executor, host="h")
    assert decode(made.SerializeToString()).placed == ()
    made.placement.add(group=0, partition=1, executor="a", host="h")
    assert decode(made.SerializeToString()).placed == (1, 0, 1)


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([10], [10]),
        ([10, 0], [10]),
        ([10, 4], [10]),
        ([10, 5], [10, 5]),
        ([3, 10, 12], [3, 10, 12]),
        ([0], []),
        ([], []),
    ],
)
def test_a_period_that_has_hardly_begun_is_not_planned_from(
    rows: list[int], kept: list[int]
) -> None:
    made = message()
    (whole,) = made.periods
    periods = [type(whole)() for _ in rows]
    for period, count in zip(periods, rows, strict=True):
        period.CopyFrom(whole)
        period.rows = count
    del made.periods[:]
    made.periods.extend(periods)
    statistics = decode(made.SerializeToString())
    assert [period.rows for period in statistics.to_plan_from] == kept


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda m: m.periods[0].groups[0].keys.counts.append(1), r"key sketch: arrays of \[2, 3"),
        (
            lambda m: m.periods[0].groups[0].keys.counts.__setitem__(1, 2**63),
            r"a count of 9223372036854775808 is 2\^63 or more",
        ),
        (lambda m: m.periods[0].edges[0].pairs.errors.pop(), "pair sketch: arrays of"),
        (lambda m: m.periods[0].groups[0].partition_rows.pop(), "rows of 2 partitions, expected 3"),
        (lambda m: m.periods[0].groups[0].slot_rows.append(1), "rows of 1 slots, expected 1026"),
        (lambda m: m.periods[0].groups[0].keys.slots.pop(), "key sketch with slots: arrays of"),
        (lambda m: m.periods[0].groups[0].keys.slots.__setitem__(0, 1026), "slot 1026 is not"),
        (lambda m: m.periods[0].groups[0].partition_ms.pop(), "2 partitions' time, expected 3"),
        (lambda m: m.periods[0].edges[0].slot_pairs.rows.pop(), "pairs of slots: arrays of"),
        (lambda m: m.ClearField("format"), "format 0; this version reads format 1"),
    ],
)
def test_damage_is_named(damage: Callable[[QueryStatistics], object], sentence: str) -> None:
    damaged = message()
    damage(damaged)
    with pytest.raises(InvalidStatistics, match=sentence):
        decode(damaged.SerializeToString())


def test_other_bytes_are_refused() -> None:
    with pytest.raises(InvalidStatistics, match="3 bytes are not query statistics"):
        decode(b"\xff\xff\xff")


def test_imbalance_is_max_over_mean() -> None:
    assert imbalance(decode(message().SerializeToString()).periods[0].groups[0].partition_rows) == (
        pytest.approx(1.5)
    )
    assert imbalance(decode(message().SerializeToString()).periods[0].groups[0].slot_rows[:0]) == 1
