"""Tables: what is refused, how keys are routed, bytes there and back, differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyroute.core import table_codec
from keyroute.core.table import (
    GroupShape,
    GroupTable,
    InvalidTable,
    RoutingTables,
    default_slots,
    empty,
    no_tables,
)
from keyroute.core.table_diff import GroupDiff, diff

SHAPE = GroupShape(0, (0, 2), 3, 1026, (0,), ("tailnum",), ("STRING",))


def table(entries: dict[int, int], shape: GroupShape = SHAPE) -> GroupTable:
    keys = sorted(entries)
    return GroupTable(
        shape, np.array(keys, np.int64), np.array([entries[k] for k in keys], np.int32)
    )


int64s = st.integers(-(2**63), 2**63 - 1)


@st.composite
def group_tables(draw: st.DrawFn, group: int) -> GroupTable:
    n = draw(st.integers(1, 9))
    slots = n * draw(st.integers(1, 5))
    shape = GroupShape(group, (group,), n, slots, (0,), ("k",), ("BIGINT",))
    entries = draw(st.dictionaries(int64s, st.integers(0, n - 1), max_size=20))
    owners = draw(st.none() | st.lists(st.integers(0, n - 1), min_size=slots, max_size=slots))
    return replace(
        table(entries, shape), slot_owners=None if owners is None else np.array(owners, np.int32)
    )


@st.composite
def routing_tables(draw: st.DrawFn) -> RoutingTables:
    groups = draw(st.sets(st.integers(0, 50), max_size=3))
    tables = tuple(draw(group_tables(g)) for g in sorted(groups))
    return RoutingTables(draw(st.integers(0, 2**62)), draw(st.text(max_size=8)), tables)


@given(routing_tables())
def test_bytes_there_and_back(tables: RoutingTables) -> None:
    data = table_codec.encode(tables)
    again = table_codec.decode(data)
    assert again == tables
    assert table_codec.encode(again) == data
    assert diff(tables, again) == tuple(GroupDiff(g.shape.group, 0, 0, 0, 0) for g in tables.groups)


def test_content_hash_is_sha256_in_lower_case_hex() -> None:
    assert table_codec.content_hash(b"") == (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )


@pytest.mark.parametrize(
    ("partitions", "slots"), [(1, 1024), (2, 1024), (3, 1026), (200, 1600), (129, 1032)]
)
def test_default_slots(partitions: int, slots: int) -> None:
    assert default_slots(partitions) == slots


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_empty_table_routes_as_spark_does(hashes: list[int]) -> None:
    routed = empty(SHAPE).route(np.array(hashes, np.int32), np.zeros(len(hashes), np.int64))
    assert routed.tolist() == [h % 3 for h in hashes]


@given(st.dictionaries(int64s, st.integers(0, 2), max_size=9), st.lists(int64s, min_size=1))
def test_explicit_entries_win_over_slots(entries: dict[int, int], others: list[int]) -> None:
    keys = [*entries, *others]
    hashes = np.arange(len(keys), dtype=np.int32)
    routed = table(entries).route(hashes, np.array(keys, np.int64))
    assert routed.tolist() == [entries.get(k, i % 3) for i, k in enumerate(keys)]


def test_moved_slot_routes_keys_without_an_entry() -> None:
    owners = empty(SHAPE).owners().copy()
    owners[5] = 0
    moved = replace(table({7: 1}), slot_owners=owners)
    routed = moved.route(np.array([5, 5, -1021], np.int32), np.array([7, 8, 8], np.int64))
    assert routed.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda: replace(SHAPE, slots=1024), "1024 slots are not a multiple of 3 partitions"),
        (lambda: replace(SHAPE, partitions=0), "needs at least 1 partition"),
        (lambda: replace(SHAPE, routing_ordinals=(1,)), "do not fit a key of 1 columns"),
        (lambda: replace(SHAPE, hash=9), "hash id 9 is not known"),
        (lambda: replace(SHAPE, operators=(2, 0)), "operators .* not strictly ascending"),
        (lambda: table({1: 3}), "target 3 at 0 is not below 3 partitions"),
        (lambda: replace(table({1: 0}), targets=np.zeros(2, np.int32)), "1 fingerprints for 2"),
        (
            lambda: replace(table({1: 0, 2: 0}), fingerprints=np.array([2, 2], np.int64)),
            "fingerprints are not strictly ascending at 1",
        ),
        (lambda: table({1: 0}, replace(SHAPE, routing_ordinals=())), "no routing columns"),
        (lambda: replace(table({}), slot_owners=np.zeros(9, np.int32)), "9 slot owners for 1026"),
        (
            lambda: GroupTable(
                replace(SHAPE, stable_slots=False),
                np.empty(0, np.int64),
                np.empty(0, np.int32),
                np.zeros(1026, np.int32),
            ),
            "slots must not be moved",
        ),
        (lambda: RoutingTables(1, "q", (table({}), table({}))), "not strictly ascending"),
        (lambda: RoutingTables(1, "q", (table({}),), (0, 1)), "2 parts for 3 partitions"),
        (lambda: RoutingTables(-1, "q"), "version -1 is negative"),
        (lambda: table_codec.decode(b"\xff\xff"), "2 bytes are not routing tables"),
        (lambda: table_codec.decode(b""), "format 0"),
    ],
)
def test_invalid_tables_are_refused_with_the_rule_they_break(break_it, sentence) -> None:
    with pytest.raises(InvalidTable, match=sentence):
        break_it()


def test_a_version_answers_the_empty_table_for_a_group_it_leaves_out() -> None:
    assert no_tables("q").group(SHAPE) == empty(SHAPE)


def test_a_version_refuses_a_group_of_another_shape() -> None:
    version = RoutingTables(4, "q", (table({1: 1}),))
    with pytest.raises(InvalidTable, match="version 4 was made for"):
        version.group(replace(SHAPE, partitions=6))


def test_diff_counts_entries_and_slots() -> None:
    owners = empty(SHAPE).owners().copy()
    owners[:2] = 2
    older = RoutingTables(1, "q", (table({1: 0, 2: 0, 3: 0}),))
    newer = RoutingTables(2, "q", (replace(table({2: 0, 3: 1, 4: 1}), slot_owners=owners),))
    assert diff(older, newer) == (GroupDiff(0, added=1, removed=1, retargeted=1, slots_moved=2),)
