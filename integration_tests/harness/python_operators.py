"""Stateful queries whose state is kept by Python code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, GroupedData, Row
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from harness.operator import Batch, Operator, Output

_NUMBERED = "k string, g string, v long, n long"
_TWICE = _NUMBERED + ", m long"


class Number(StatefulProcessor):
    """Numbers a key's rows from 1 on."""

    def init(self, handle: Any) -> None:
        self.last = handle.getValueState("last", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        n = self.last.get()[0] if self.last.exists() else 0
        for row in rows:
            n += 1
            name = "m" if "n" in row else "n"
            yield Row(**row.asDict(), **{name: n})
        self.last.update((n,))

    def close(self) -> None:
        pass


class NumberPandas(StatefulProcessor):
    """As Number, in pandas mode."""

    def init(self, handle: Any) -> None:
        self.last = handle.getValueState("last", "n long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        n = self.last.get()[0] if self.last.exists() else 0
        for frame in rows:
            numbers = range(n + 1, n + 1 + len(frame))
            n += len(frame)
            name = "m" if "n" in frame.columns else "n"
            yield frame.assign(**{name: numbers})
        self.last.update((n,))

    def close(self) -> None:
        pass


def _totals(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """Ends a key in the first batch without rows of it."""
    count, total = state.get if state.exists else (0, 0)
    over = state.hasTimedOut
    if over:
        state.remove()
    else:
        for frame in frames:
            count, total = count + len(frame), total + int(frame["v"].sum())
        state.update((count, total))
        state.setTimeoutDuration(1)
    yield pd.DataFrame({"k": [key[0]], "count": [count], "total": [total], "over": [over]})


def _totals_in_pandas(frame: DataFrame) -> DataFrame:
    # Each key is away in one of three batches.
    some = frame.where("(minute(ts) + cast(substr(k, 2) as int)) % 3 <> 0")
    return some.groupBy("k").applyInPandasWithState(
        _totals,
        "k string, count long, total long, over boolean",
        "count long, total long",
        "update",
        GroupStateTimeout.ProcessingTimeTimeout,
    )


def _expect_totals(batches: list[Batch]) -> list[Output]:
    values: dict[str, list[int]] = {}
    out = []
    for batch in batches:
        away = set(values)
        for row in batch:
            if (int(row["ts"][14:16]) + int(row["k"][1:])) % 3 != 0:
                values.setdefault(row["k"], []).append(row["v"])
                away.discard(row["k"])
        out.append(Counter((k, len(v), sum(v), k in away) for k, v in values.items()))
        for k in away:
            del values[k]
    return out


_GIVEN = {f"k{i}": 1000 + i for i in range(0, 97, 2)} | {"absent": 5}


class NumberFrom(Number):
    """As Number, from a key's given number on."""

    def handleInitialState(self, key: Any, initialState: Row, timers: Any) -> None:
        self.last.update((initialState["first"],))


class NumberFromPandas(NumberPandas):
    """As NumberFrom, in pandas mode."""

    def handleInitialState(self, key: Any, initialState: pd.DataFrame, timers: Any) -> None:
        self.last.update((int(initialState["first"].iloc[0]),))


def _given(frame: DataFrame) -> GroupedData:
    return frame.sparkSession.createDataFrame(list(_GIVEN.items()), "k string, first long").groupBy(
        "k"
    )


def _numbered_from(frame: DataFrame) -> DataFrame:
    first = frame.select("k", "g", "v").groupBy("k")
    return first.transformWithState(
        NumberFrom(), _NUMBERED, "Append", "None", initialState=_given(frame)
    )


def _numbered_from_pandas(frame: DataFrame) -> DataFrame:
    first = frame.select("k", "g", "v").groupBy("k")
    return first.transformWithStateInPandas(
        NumberFromPandas(), _NUMBERED, "Append", "None", initialState=_given(frame)
    )


def _expect_numbered_from(batches: list[Batch]) -> list[Output]:
    n = Counter(_GIVEN)
    out = []
    for batch in batches:
        emitted: Output = Counter()
        for row in batch:
            n[row["k"]] += 1
            emitted[("k", row["k"], n[row["k"]])] += 1
            emitted[("v", row["v"])] += 1
        out.append(emitted)
    return out


def _spread_once(row: tuple[Any, ...]) -> tuple[Any, ...]:
    k, _, v, n = row
    return (("k", k, n), ("v", v))


def _numbered_twice(frame: DataFrame) -> DataFrame:
    first = frame.select("k", "g", "v").groupBy("k")
    numbered = first.transformWithState(Number(), _NUMBERED, "Append", "None")
    return numbered.groupBy("g").transformWithState(Number(), _TWICE, "Append", "None")


def _numbered_twice_pandas(frame: DataFrame) -> DataFrame:
    first = frame.select("k", "g", "v").groupBy("k")
    numbered = first.transformWithStateInPandas(NumberPandas(), _NUMBERED, "Append", "None")
    return numbered.groupBy("g").transformWithStateInPandas(
        NumberPandas(), _TWICE, "Append", "None"
    )


def _expect_numbered_twice(batches: list[Batch]) -> list[Output]:
    """Which number a row has within its batch depends on the order of rows; which numbers a key's
    rows have does not."""
    n: Counter[str] = Counter()
    m: Counter[str] = Counter()
    out = []
    for batch in batches:
        emitted: Output = Counter()
        for row in batch:
            n[row["k"]] += 1
            m[row["g"]] += 1
            emitted[("k", row["k"], n[row["k"]])] += 1
            emitted[("g", row["g"], m[row["g"]])] += 1
            emitted[("v", row["v"])] += 1
        out.append(emitted)
    return out


def _spread(row: tuple[Any, ...]) -> tuple[Any, ...]:
    k, g, v, n, m = row
    return (("k", k, n), ("g", g, m), ("v", v))


NUMBERED = Operator(
    "numbered", "append", _numbered_twice, _expect_numbered_twice, _spread, needs_families=True
)
NUMBERED_PANDAS = Operator(
    "numbered_pandas",
    "append",
    _numbered_twice_pandas,
    _expect_numbered_twice,
    _spread,
    needs_families=True,
)
TOTALS_PANDAS = Operator("totals_pandas", "update", _totals_in_pandas, _expect_totals)
NUMBERED_FROM = Operator(
    "numbered_from",
    "append",
    _numbered_from,
    _expect_numbered_from,
    _spread_once,
    needs_families=True,
)
NUMBERED_FROM_PANDAS = Operator(
    "numbered_from_pandas",
    "append",
    _numbered_from_pandas,
    _expect_numbered_from,
    _spread_once,
    needs_families=True,
)
