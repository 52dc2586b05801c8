"""Files of `keyroute tables apply`: keys become Spark's fingerprints, mistakes are named."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from keyroute.cli.key_text import UnreadableKey, fingerprint
from keyroute.cli.table_file import UnreadableFile, read_tables
from keyroute.core import table_codec
from keyroute.core.hashes import spark_hash
from keyroute.core.table import GroupShape, GroupTable, RoutingTables

PLAIN = GroupShape(0, (0,), 3, 1026, (0,), ("tailnum",), ("STRING",))
WIDE = GroupShape(
    1, (1, 2), 3, 1026, (0, 2), ("a", "w", "b"), ("INT", "TIMESTAMP", "DATE"), stable_slots=False
)
SHAPES = (PLAIN, WIDE)


def _read(groups: object, **more: object) -> RoutingTables:
    return read_tables(json.dumps({"groups": groups, **more}).encode(), SHAPES, "q")


def test_text_keys_become_fingerprints_in_order() -> None:
    tables = _read({"0": {"keys": {"N1": 2, "N2": 1, "N3": 0}}}, parts=[0, 1, 2])
    (table,) = tables.groups
    expected = {spark_hash([key], ["STRING"])[1]: p for key, p in [("N1", 2), ("N2", 1), ("N3", 0)]}
    assert dict(zip(table.fingerprints.tolist(), table.targets.tolist(), strict=True)) == expected
    assert table.fingerprints.tolist() == sorted(expected)
    assert tables.parts == (0, 1, 2)


def test_listed_keys_hold_a_value_for_each_routing_column() -> None:
    tables = _read({"1": {"keys": [{"key": [7, "2013-01-31"], "partition": 1}]}})
    days = 15736
    assert tables.groups[0].fingerprints.tolist() == [spark_hash([7, days], ["INT", "DATE"])[1]]


def test_null_is_a_key() -> None:
    tables = _read({"0": {"keys": [{"key": [None], "partition": 1}]}})
    assert tables.groups[0].fingerprints.tolist() == [42]


def test_fingerprints_and_slots_are_taken_as_they_are() -> None:
    owners = [(s + 1) % 3 for s in range(1026)]
    tables = _read({"0": {"fingerprints": {"5": 1, "-5": 2}, "slotOwners": owners}})
    assert tables.groups[0].fingerprints.tolist() == [-5, 5]
    assert tables.groups[0].owners().tolist() == owners


def test_serialised_tables_are_taken_for_this_query() -> None:
    table = GroupTable(PLAIN, np.array([3], np.int64), np.array([1], np.int32))
    data = table_codec.encode(RoutingTables(9, "another", (table,)))
    assert read_tables(data, SHAPES, "q") == RoutingTables(1, "q", (table,))
    other = (replace(PLAIN, key_types=("BINARY",)),)
    with pytest.raises(UnreadableFile, match="was made for"):
        read_tables(data, other, "q")


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        ([], "groups must be a JSON object"),
        ({"7": {}}, "no group 7; its groups: 0, 1"),
        ({"x": {}}, "'x' is no integer"),
        ({"0": {"key": {}}}, "unknown fields: key"),
        ({"0": {"keys": {"N0": 2, "Ñ1": 3}}}, 'key "Ñ1": there is no partition 3, only 0 to 2'),
        ({"0": {"fingerprints": {"-9": 7}}}, "fingerprint -9: there is no partition 7"),
        (
            {"1": {"keys": [{"key": [7, "2013-01-31"], "partition": 9}]}},
            'key 7, "2013-01-31": there is no partition 9',
        ),
        ({"0": {"keys": {"N1": -1}}}, "no partition number"),
        ({"0": {"keys": {"N1": True}}}, "no partition number"),
        ({"0": {"keys": 5}}, "an object or a list"),
        ({"0": {"keys": [{"key": "N1", "partition": 1}]}}, "must look like"),
        ({"0": {"keys": [{"key": ["a", "b"], "partition": 1}]}}, "has 2 values"),
        ({"1": {"keys": {"7": 1}}}, "its routing columns are a, b"),
        ({"1": {"keys": [{"key": ["x", "2013-01-31"], "partition": 1}]}}, "x"),
        (
            {"1": {"keys": [{"key": [2**32 + 7, "2013-01-31"], "partition": 1}]}},
            "group 1: key .*: 4294967303 is out of the range of int",
        ),
        ({"0": {"fingerprints": {str(2**63): 1}}}, "no signed 64-bit integer"),
        ({"0": {"slotOwners": [0, 1]}}, "2 slot owners for 1026 slots"),
        ({"1": {"slotOwners": [2] * 1026}}, "slots must not be moved"),
        (
            {"0": {"keys": {"N1": 1}, "fingerprints": {str(spark_hash(["N1"], ["STRING"])[1]): 2}}},
            "two partitions, 1 and 2",
        ),
    ],
)
def test_mistakes_are_named(groups: object, says: str) -> None:
    with pytest.raises(UnreadableFile, match=says):
        _read(groups)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b" \n", "the file is empty"),
        (b'{"groups": {"0": {"keys": {"a": 1, "b": 0, "a": 2}}}}', '"a" is there twice'),
    ],
)
def test_files_that_would_be_misread_are_refused(data: bytes, says: str) -> None:
    with pytest.raises(UnreadableFile, match=says):
        read_tables(data, SHAPES, "q")


@pytest.mark.parametrize("data", [b"{", b"\x01\x02", b'{"tables": {}}'])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        read_tables(data, SHAPES, "q")


@pytest.mark.parametrize(
    ("ddl", "text", "value"),
    [
        ("BIGINT", "-7", -7),
        ("DOUBLE", "-0.0", 0.0),
        ("BOOLEAN", "true", True),
        ("BINARY", "AAE=", b"\x00\x01"),
        ("DECIMAL(10,2)", "1.5", 15 * 10),
        ("TIMESTAMP", "1970-01-01T00:00:01Z", 1_000_000),
        ("TIMESTAMP_NTZ", "1970-01-01T00:00:01", 1_000_000),
        ("DATE", "1970-01-02", 1),
    ],
)
def test_texts_are_read_by_their_type(ddl: str, text: str, value: object) -> None:
    shape = replace(PLAIN, key_types=(ddl,))
    expected = spark_hash([value], ["BIGINT" if ddl.startswith("DECIMAL") else ddl])[1]
    assert fingerprint(shape, [text]) == expected


@pytest.mark.parametrize(
    ("ddl", "value"), [("BOOLEAN", "yes"), ("BINARY", "?"), ("DECIMAL(4,1)", "x"), ("INT", "1.5")]
)
def test_texts_that_do_not_fit_are_refused(ddl: str, value: object) -> None:
    with pytest.raises(UnreadableKey, match="group 0"):
        fingerprint(replace(PLAIN, key_types=(ddl,)), [value])
