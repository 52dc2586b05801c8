"""Hashes against vectors that Spark made (proto/golden/hashes.json)."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from keyroute.core.hashes import spark_hash
from keyroute.core.key_types import KeyType, UnknownKeyType, parse

GOLDEN = Path(__file__).parents[3] / "proto" / "golden" / "hashes.json"
TEXTUAL = {"decimal": Decimal, "float": float, "double": float, "binary": bytes.fromhex}
WIDE = ("bigint", "timestamp", "timestamp_ntz")


def from_json(value: object, key_type: KeyType) -> object:
    if value is None:
        return None
    if key_type.name == "struct":
        return [from_json(v, t) for v, t in zip(value, key_type.children, strict=True)]
    if key_type.name in WIDE:
        return int(value)
    return TEXTUAL.get(key_type.name, lambda v: v)(value)


def test_hashes_equal_those_of_spark() -> None:
    vectors = json.loads(GOLDEN.read_text())
    assert len(vectors) > 200
    wrong = []
    for v in vectors:
        values = [from_json(x, parse(t)) for x, t in zip(v["values"], v["types"], strict=True)]
        if spark_hash(values, v["types"]) != (v["murmur3"], int(v["xxh64"])):
            wrong.append(v)
    assert wrong == []


def test_python_dates_and_times_hash_as_their_numbers() -> None:
    day, instant = date(2013, 1, 1), datetime(2013, 1, 1, 11, tzinfo=timezone.utc)
    elsewhere = instant.astimezone(timezone(timedelta(hours=-5)))
    assert spark_hash([day], ["DATE"]) == spark_hash([15706], ["DATE"])
    assert spark_hash([elsewhere], ["TIMESTAMP"]) == spark_hash([1357038000000000], ["TIMESTAMP"])
    assert spark_hash([instant.replace(tzinfo=None)], ["TIMESTAMP_NTZ"]) == spark_hash(
        [1357038000000000], ["TIMESTAMP_NTZ"]
    )


@pytest.mark.parametrize(
    ("value", "ddl", "sentence"),
    [
        ("x", "MAP<INT, INT>", "cannot be hashed outside Spark"),
        ("x", "STRING COLLATE UTF8_LCASE", "collation UTF8_LCASE"),
        ("x", "INT", "a str is no key of type int"),
        (True, "INT", "a bool is no key of type int"),
        (datetime(2013, 1, 1), "TIMESTAMP", "needs a datetime with a zone"),
        (Decimal("0.001"), "DECIMAL(10,2)", "more than 2 decimal places"),
        (128, "TINYINT", "128 is out of the range of tinyint"),
        (-129, "TINYINT", "-129 is out of the range of tinyint"),
        (2**15, "SMALLINT", "out of the range of smallint"),
        (2**32 + 1, "INT", "4294967297 is out of the range of int"),
        (2**31, "DATE", "out of the range of date"),
        (-(2**63) - 1, "BIGINT", "out of the range of bigint"),
        (2**63, "TIMESTAMP", "out of the range of timestamp"),
        ([2**31], "ARRAY<INT>", "out of the range of int"),
        (Decimal("1000"), "DECIMAL(5,2)", r"1000 is out of the range of decimal\(5,2\)"),
        (Decimal("-123456789.5"), "DECIMAL(5,2)", "out of the range of decimal"),
        (Decimal("1E+1000000000"), "DECIMAL(38,0)", "out of the range of decimal"),
        (10**20, "DECIMAL(20,0)", "out of the range of decimal"),
        ([1], "STRUCT<a: INT, b: INT>", "1 values for a struct of 2 fields"),
        (1, "STRUCT<a: INT", "ends too early"),
        (1, "INT) ", "unexpected"),
        (1, "STRING ?", "cannot be read"),
    ],
)
def test_what_cannot_be_hashed_is_said(value: object, ddl: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        spark_hash([value], [ddl])


@pytest.mark.parametrize(
    ("value", "ddl"),
    [
        (-128, "TINYINT"),
        (2**15 - 1, "SMALLINT"),
        (-(2**31), "INT"),
        (2**63 - 1, "BIGINT"),
        (Decimal("-999.99"), "DECIMAL(5,2)"),
        (Decimal("0.00"), "DECIMAL(2,2)"),
        (10**20 - 1, "DECIMAL(20,0)"),
    ],
)
def test_the_last_values_of_a_range_are_hashed(value: object, ddl: str) -> None:
    assert spark_hash([value], [ddl])


def test_number_of_values_and_types_must_agree() -> None:
    with pytest.raises(ValueError, match="1 values for 2 key types"):
        spark_hash([1], ["INT", "INT"])


@pytest.mark.parametrize(
    ("ddl", "parsed"),
    [
        ("varchar(10)", KeyType("string")),
        ("STRING COLLATE UTF8_BINARY", KeyType("string")),
        ("decimal", KeyType("decimal", 10, 0)),
        (
            "STRUCT<`odd ``name`: INT NOT NULL, b: ARRAY<DECIMAL(20,2)>>",
            KeyType(
                "struct",
                children=(
                    KeyType("int"),
                    KeyType("array", children=(KeyType("decimal", 20, 2),)),
                ),
            ),
        ),
        ("INTERVAL YEAR TO MONTH", KeyType("interval_months")),
        ("INTERVAL DAY TO SECOND", KeyType("interval_micros")),
    ],
)
def test_ddl_is_read(ddl: str, parsed: KeyType) -> None:
    assert parse(ddl) == parsed


def test_errors_are_of_one_type_for_unknown_types() -> None:
    with pytest.raises(UnknownKeyType):
        parse("VARIANT")
