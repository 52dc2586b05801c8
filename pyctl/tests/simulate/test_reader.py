"""Streams from files."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keyroute.core.hashes import spark_hash
from keyroute.simulate.reader import read
from keyroute.simulate.stream import BadStream


def test_csv_is_read_in_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("t,a,b,n\n2026-01-02,NA,007,2\n2026-01-01,x,,1\n2026-01-02,y,7,5\n")
    stream = read(str(file), ["a", "b"], "t", "n")
    a, b = stream.columns
    assert [a.values[c] for c in a.codes] == ["x", "NA", "y"]
    assert (a.type, b.type) == ("string", "string")
    assert [b.values[c] for c in b.codes] == [None, "007", "7"]
    assert stream.weights.tolist() == [1, 2, 5]


@pytest.mark.parametrize("ending", ["", ",", ",,"])
def test_csv_with_delimiters_at_the_ends_of_lines(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "s.csv"
    file.write_text(f"a,b{ending}\nx,1{ending}\ny,2{ending}\n")
    a, b = read(str(file), ["a", "b"], None, None).columns
    assert (a.values, b.values) == (("x", "y"), ("1", "2"))
    file.write_text("a,b\nx,1,\ny,2,\n")
    a, b = read(str(file), ["a", "b"], None, None).columns
    assert (a.values, b.values) == (("x", "y"), ("1", "2"))


@pytest.mark.parametrize("rows", ["x,1,2\ny,2,3\n", "x,1,\ny,2,3\n", "x,1,,\ny,2,,\n"])
def test_csv_rows_of_more_fields_than_the_header_are_refused(tmp_path: Path, rows: str) -> None:
    file = tmp_path / "s.csv"
    file.write_text(f"a,b\n{rows}")
    with pytest.raises(BadStream, match=r"^\S+s.csv has rows of more fields"):
        read(str(file), ["a", "b"], None, None)


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    pd.DataFrame(
        {
            "i": pd.array([1, 2], "int32"),
            "l": [3, 4],
            "s": ["x", None],
            "d": [0.5, -0.0],
            "t": pd.to_datetime(["2026-01-01", "2026-01-02"]),
            "b": [True, False],
        }
    ).to_parquet(file)
    columns = read(str(file), ["i", "l", "s", "d", "t", "b"], None, None).columns
    assert [c.type for c in columns] == [
        *("int", "bigint", "string", "double", "timestamp_ntz", "boolean")
    ]
    assert columns[0].hashes[0][0] == spark_hash([1], ["int"])[0]
    assert columns[2].values == ("x", None)


MOMENT = datetime(2026, 1, 1, 5, tzinfo=timezone.utc)
LATEST = datetime(9999, 12, 31)


@pytest.mark.parametrize(
    ("values", "kind", "ddl"),
    [
        ([2**53, None, 2**53 + 1], pa.int64(), "bigint"),
        ([-1, None], pa.int8(), "tinyint"),
        ([-1, None], pa.int16(), "smallint"),
        ([2**8 - 1, None], pa.uint8(), "smallint"),
        ([2**16 - 1, None], pa.uint16(), "int"),
        ([1, 2**32 - 1, None], pa.uint32(), "bigint"),
        ([1, 2**64 - 1, None], pa.uint64(), "decimal(20,0)"),
        ([True, None, False], pa.bool_(), "boolean"),
        ([0.5, None, float("nan")], pa.float32(), "float"),
        ([0.5, None, float("nan")], pa.float64(), "double"),
        (["x", None], pa.large_string(), "string"),
        ([MOMENT, None], pa.timestamp("us", "America/New_York"), "timestamp"),
        ([MOMENT, None], pa.timestamp("ms", "UTC"), "timestamp"),
        ([LATEST, None], pa.timestamp("us"), "timestamp_ntz"),
    ],
)
def test_parquet_hashes_as_spark_reads_it(
    tmp_path: Path, values: list[object], kind: pa.DataType, ddl: str
) -> None:
    file = tmp_path / "s.parquet"
    pq.write_table(pa.table({"k": pa.array(values, kind), "n": range(len(values))}), file)
    key, _ = read(str(file), ["k", "n"], None, None).columns
    assert key.type == ddl
    assert key.codes.tolist() == list(range(len(values)))
    hashes = list(zip(*(of.tolist() for of in key.hashes), strict=True))
    assert hashes == [spark_hash([value], [ddl]) for value in values]


def test_times_out_of_range_are_said(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    pq.write_table(pa.table({"a": ["x"], "b": ["y"], "t": pa.array([LATEST])}), file)
    with pytest.raises(BadStream, match=r"'t' holds no times: Out of bounds .* 9999-12-31"):
        read(str(file), ["a", "b"], "t", None)


def test_keys_that_cannot_be_hashed_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    pd.DataFrame({"a": [Decimal("1.50")], "b": [1]}).to_parquet(file)
    with pytest.raises(BadStream, match="'a' holds a Decimal: keys are text"):
        read(str(file), ["a", "b"], None, None)
    pd.DataFrame({"a": [1], "b": [[1, 2]]}).to_parquet(file)
    with pytest.raises(BadStream, match="'b' holds a ndarray: keys are text"):
        read(str(file), ["a", "b"], None, None)


def test_what_pandas_says_of_times_is_one_line_without_advice(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("a,b,t\nx,y,2026-01-01\nx,y,the day after\n")
    with pytest.raises(BadStream, match="holds no times") as raised:
        read(str(file), ["a", "b"], "t", None)
    assert "the day after" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "You might" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((["a", "z"], None, None), "no column 'z'; it has a, b"),
        ((["a"], None, None), "at least two keys"),
        ((["a", "b"], "a", None), "holds no times"),
        ((["a"], "b", None), "'b' holds no times: numbers"),
        ((["a", "b"], None, "a"), "whole numbers"),
    ],
)
def test_what_a_file_lacks_is_said(tmp_path: Path, options: tuple[object, ...], says: str) -> None:
    file = tmp_path / "s.csv"
    file.write_text("a,b\nx,1\ny,2\n")
    with pytest.raises(BadStream, match=says):
        read(str(file), *options)  # type: ignore[arg-type]


def test_a_file_that_is_not_there_or_not_csv(tmp_path: Path) -> None:
    with pytest.raises(BadStream, match=r"does not exist; give a \.csv"):
        read(str(tmp_path / "no.csv"), ["a", "b"], None, None)
    (tmp_path / "p.parquet").write_text("no parquet")
    with pytest.raises(BadStream, match="cannot be read"):
        read(str(tmp_path / "p.parquet"), ["a", "b"], None, None)
