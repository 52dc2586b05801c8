"""A dump comes back as it was, plans as the query would, and is refused where it is not whole."""

from __future__ import annotations

import gzip
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

import streams
from keyroute.core.dump import Dump, InvalidDump, decode, encode
from keyroute.core.plan import CannotPlan, PlanRequest, PlanSettings, Topology
from keyroute.core.statistics import (
    PairCounts,
    PartitionPlacement,
    Period,
    QueryStatistics,
    SlotPairs,
)
from keyroute.core.table import no_tables
from keyroute.core.topology import topology
from keyroute.planners.metis import plan_metis
from keyroute.v1 import dump_pb2

SHAPES = (streams.shape(0), streams.shape(1))


def _full(period: Period) -> Period:
    """The period with all that may be known of it."""
    ids = np.arange(1026, dtype=np.int64)
    group, edge = period.groups[0], period.edges[0]
    keys = replace(
        group.keys,
        slots=group.keys.fingerprints % 1026,
        labels=tuple(f"käy {i}" for i in range(len(group.keys.fingerprints))),
    )
    known = replace(
        group,
        keys=keys,
        slot_state_rows=ids,
        slot_state_bytes=ids * 100,
        partition_ms=ids[:3],
        sources=PairCounts(7, ids[:2], -ids[:2], ids[3:5], ids[:2]),
    )
    cells = SlotPairs(ids[:5], ids[5:10], ids[10:15])
    return replace(
        period,
        groups=(known, *period.groups[1:]),
        edges=(replace(edge, slot_pairs=cells),),
        local_bytes=5,
        remote_bytes=9,
    )


def _dump(rows: int = 4000) -> Dump:
    periods = tuple(_full(streams.count(streams.correlated(seed, rows))) for seed in (1, 2))
    asked = PlanRequest("q", SHAPES, periods, no_tables("q"))
    current = plan_metis(asked).tables(3, "q")
    placement = tuple(
        PartitionPlacement(0, p, f"e{p % 2}", f"host-{p % 2}", f"zone-{p % 2}") for p in range(3)
    )
    statistics = QueryStatistics("q", "run", "flights", periods, placement, 3, 17)
    return Dump(statistics, SHAPES, current, "assumed", "a test", 2**41)


_SMALL = _dump(200)


def _require_equal(one: object, other: object) -> None:
    """Compares arrays inside of dataclasses, too."""
    assert type(one) is type(other)
    if is_dataclass(one):
        for field in fields(one):
            _require_equal(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, tuple):
        assert isinstance(other, tuple)
        for left, right in zip(one, other, strict=True):
            _require_equal(left, right)
    elif isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def test_a_dump_comes_back_as_it_was() -> None:
    dump = _dump()
    data = encode(dump)
    read = decode(data)
    _require_equal(read, dump)
    assert encode(read) == data


def test_a_planner_answers_the_same_on_a_dump() -> None:
    dump = _dump()
    direct, read = (plan_metis(d.request(PlanSettings())) for d in (dump, decode(encode(dump))))
    assert read.tables(1, "q") == direct.tables(1, "q")
    assert (read.why, read.moved_keys) == (direct.why, direct.moved_keys)


def test_the_request_is_what_the_driver_knows() -> None:
    request = _dump().request(PlanSettings(alpha=1.2), executors=3, leaving=frozenset({1}))
    assert (request.placed, request.topology.hosts) == ((0, 1, 0), (0, 1, 0))
    assert (request.executors, request.leaving) == (3, {1})
    assert request.settings.alpha == 1.2
    assert [p.rows for p in request.periods] == [4000, 4000]


def test_a_period_that_has_hardly_begun_is_in_the_dump_and_not_planned_from() -> None:
    dump = _dump()
    begun = streams.count(streams.correlated(3, 9))
    periods = (*dump.statistics.periods, begun)
    longer = decode(encode(replace(dump, statistics=replace(dump.statistics, periods=periods))))
    assert [p.rows for p in longer.statistics.periods] == [4000, 4000, 9]
    assert [p.rows for p in longer.request(PlanSettings()).periods] == [4000, 4000]


def test_every_file_that_was_cut_off_is_refused() -> None:
    data = encode(_dump())
    for length in (0, 5, 15, 16, 17, 30, len(data) // 2, len(data) - 8, len(data) - 1):
        with pytest.raises(InvalidDump):
            decode(data[:length])


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda _: b"", "does not begin with the line"),
        (lambda _: b'{"format": 1}', "does not begin with the line"),
        (lambda d: d.replace(b"dump 1", b"dump 2", 1), "has format 2, and this version reads"),
        (lambda d: d[:40] + bytes([d[40] ^ 1]) + d[41:], "cut off or damaged"),
        (lambda d: d + b"more", "cut off or damaged"),
        (lambda d: d[:16] + b"no gzip", "cut off or damaged"),
    ],
)
def test_what_is_no_dump_is_told(damage: object, says: str) -> None:
    assert callable(damage)
    with pytest.raises(InvalidDump, match=says):
        decode(damage(encode(_dump())))


def test_a_count_that_no_driver_can_have_is_told() -> None:
    head, _, body = encode(_SMALL).partition(b"\n")
    message = dump_pb2.Dump.FromString(gzip.decompress(body))
    message.statistics.periods[0].edges[0].slot_pairs.rows[0] = 2**64 - 1
    with pytest.raises(InvalidDump, match=r"no usable dump: a count of \d+ is 2\^63 or more"):
        decode(head + b"\n" + gzip.compress(message.SerializeToString()))


@pytest.mark.parametrize("seed", range(40))
def test_a_message_that_is_not_what_it_was_is_refused_or_planned_from(seed: int) -> None:
    """What a checksum cannot find: a file that was written wrong."""
    rng = np.random.default_rng(seed)
    head, _, body = encode(_SMALL).partition(b"\n")
    message = bytearray(gzip.decompress(body))
    for at in rng.integers(0, len(message), rng.integers(1, 8)):
        message[at] = rng.integers(0, 256)
    with suppress(InvalidDump, CannotPlan):
        plan_metis(decode(head + b"\n" + gzip.compress(bytes(message))).request(PlanSettings()))


@pytest.mark.parametrize(
    ("hosts", "parts", "executors", "expected"),
    [
        ("aabb", (), 0, (0, 0, 1, 1)),
        ("aabb", (0, 0, 1, 1), 2, (0, 1)),
        # Which partitions will share an executor is not known yet.
        ("aabb", (), 2, ()),
        # A part on two hosts, as while an executor is lost.
        ("abbb", (0, 0, 1, 1), 2, ()),
        # Not seen yet.
        ("aab", (), 0, ()),
        (["a", "", "b", "b"], (), 0, ()),
    ],
)
def test_hosts_of_parts(
    hosts: list[str], parts: tuple[int, ...], executors: int, expected: tuple[int, ...]
) -> None:
    shape = streams.shape(0, 4)
    seen = [PartitionPlacement(0, p, f"e{p}", host) for p, host in enumerate(hosts)]
    assert topology(seen, (shape,), parts, executors) == Topology(expected)


@pytest.mark.parametrize(
    ("zones", "expected"),
    [
        ("xxyy", (0, 1, 1)),
        ("yyxx", (1, 0, 0)),
        ("", ()),
        # One host's zone is not known, or it says two.
        (["x", "x", "", "y"], ()),
        ("xzyy", ()),
    ],
)
def test_zones_of_parts(zones: list[str], expected: tuple[int, ...]) -> None:
    shape = streams.shape(0, 4)
    hosts = "aabc"
    seen = [
        PartitionPlacement(0, p, f"e{p}", hosts[p], zones[p] if zones else "") for p in range(4)
    ]
    assert topology(seen, (shape,), (0, 0, 1, 2), 3) == Topology((0, 1, 2), expected)
