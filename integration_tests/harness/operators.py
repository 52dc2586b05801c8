"""The stateful queries that the tests run, each with a batch computation of its output.

An operator's `expected` takes the input of the batches and returns, for each batch, the rows that a
correct query emits in it, as a multiset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

Batch = list[dict[str, Any]]
Output = Counter[tuple[Any, ...]]

_NUMBERED = "k string, g string, v long, n long"
_TWICE = _NUMBERED + ", m long"


@dataclass(frozen=True)
class Operator:
    """One query over the feed's frame.

    Attributes:
        ordered: whether rows of one batch reach the operator in a known order. Where they do not,
            `comparable` reduces an emitted row to what does not depend on it.
    """

    name: str
    mode: str
    build: Callable[[DataFrame], DataFrame]
    expected: Callable[[list[Batch]], list[Output]]
    comparable: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda row: row
    needs_families: bool = False


def _aggregate(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.count("*"), F.sum("v"))


def _expect_aggregate(batches: list[Batch]) -> list[Output]:
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    out = []
    for batch in batches:
        for row in batch:
            count[row["k"]] += 1
            total[row["k"]] += row["v"]
        out.append(Counter((k, count[k], total[k]) for k in {row["k"] for row in batch}))
    return out


def _windowed(frame: DataFrame) -> DataFrame:
    window = F.window("ts", "10 minutes")
    counted = frame.withWatermark("ts", "1 day").groupBy(window, "k").count()
    return counted.select(F.col("window.start").cast("string"), "k", "count")


def _expect_windowed(batches: list[Batch]) -> list[Output]:
    count: Counter[tuple[str, str]] = Counter()
    out = []
    for batch in batches:
        touched = set()
        for row in batch:
            start = f"{row['ts'][:10]} {row['ts'][11:15]}0:00"
            count[start, row["k"]] += 1
            touched.add((start, row["k"]))
        out.append(Counter((*key, count[key]) for key in touched))
    return out


def _dedup(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicates(["k", "g"]).select("k", "g")


def _expect_dedup(batches: list[Batch]) -> list[Output]:
    seen: set[tuple[str, str]] = set()
    out = []
    for batch in batches:
        fresh = {(row["k"], row["g"]) for row in batch} - seen
        seen |= fresh
        out.append(Counter(fresh))
    return out


def _dedup_then_aggregate(frame: DataFrame) -> DataFrame:
    return frame.dropDuplicates(["k", "g"]).groupBy("g").count()


def _dedup_coalesced_then_aggregate(frame: DataFrame) -> DataFrame:
    # Several partitions of the first operator run in one task.
    return frame.dropDuplicates(["k", "g"]).coalesce(2).groupBy("g").count()


def _expect_dedup_then_aggregate(batches: list[Batch]) -> list[Output]:
    count: Counter[str] = Counter()
    out = []
    for fresh in _expect_dedup(batches):
        for _, g in fresh:
            count[g] += 1
        out.append(Counter((g, count[g]) for g in {g for _, g in fresh}))
    return out


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


AGGREGATE = Operator("aggregate", "update", _aggregate, _expect_aggregate)
WINDOWED = Operator("windowed", "update", _windowed, _expect_windowed)
DEDUP = Operator("dedup", "append", _dedup, _expect_dedup)
CHAIN = Operator("chain", "update", _dedup_then_aggregate, _expect_dedup_then_aggregate)
COALESCED = Operator(
    "coalesced", "update", _dedup_coalesced_then_aggregate, _expect_dedup_then_aggregate
)
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

ALL = {o.name: o for o in (AGGREGATE, WINDOWED, DEDUP, CHAIN, COALESCED, NUMBERED, NUMBERED_PANDAS)}


def differences(
    operator: Operator, emitted: dict[int, list[Any]], inputs: list[Batch]
) -> list[str]:
    """One sentence for each batch whose rows are not the expected multiset; empty: exact."""
    found = []
    for number, want in enumerate(operator.expected(inputs)):
        got: Output = Counter()
        for row in emitted.get(number, []):
            reduced = operator.comparable(tuple(row))
            got.update(reduced if reduced and isinstance(reduced[0], tuple) else [reduced])
        if got != want:
            extra, missing = list((got - want).items())[:3], list((want - got).items())[:3]
            found.append(f"batch {number}: unexpected {extra}, missing {missing}")
    return found
