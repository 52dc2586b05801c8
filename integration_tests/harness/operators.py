"""The stateful queries that the tests run, each with a batch computation of its output.

An operator's `expected` takes the input of the batches and returns, for each batch, the rows that a
correct query emits in it, as a multiset.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.operator import Batch, Operator, Output, differences
from harness.python_operators import (
    NUMBERED,
    NUMBERED_FROM,
    NUMBERED_FROM_PANDAS,
    NUMBERED_PANDAS,
    TOTALS_PANDAS,
)

__all__ = [
    "AGGREGATE",
    "ALL",
    "CHAIN",
    "COALESCED",
    "DEDUP",
    "JOINED",
    "NUMBERED",
    "NUMBERED_FROM",
    "NUMBERED_FROM_PANDAS",
    "NUMBERED_PANDAS",
    "TOTALS_PANDAS",
    "WINDOWED",
    "Batch",
    "Operator",
    "Output",
    "differences",
]


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


_WAIT_S = 90.5  # no row has such a time, so that nothing hangs on a bound being open or closed


def _joined(frame: DataFrame) -> DataFrame:
    left = frame.filter("v % 2 = 0").withWatermark("ts", "0 seconds")
    right = frame.filter("v % 10 = 1").withWatermark("ts", "0 seconds")
    near = f"interval {int(_WAIT_S * 1000)} milliseconds"
    return (
        left.selectExpr("k", "v", "ts")
        .join(
            right.selectExpr("k as rk", "v as rv", "ts as rts"),
            F.expr(f"k = rk and rts >= ts - {near} and rts <= ts + {near}"),
            "left_outer",
        )
        .select("k", "v", "rv")
    )


def _expect_joined(batches: list[Batch]) -> list[Output]:
    left: list[tuple[str, int, float]] = []
    right: list[tuple[str, int, float]] = []
    matched: set[int] = set()
    watermark = 0.0
    out = []
    for batch in batches:
        rows = [(r["k"], r["v"], datetime.fromisoformat(r["ts"]).timestamp()) for r in batch]
        fresh = {v for _, v, _ in rows}
        left += [row for row in rows if row[1] % 2 == 0]
        right += [row for row in rows if row[1] % 10 == 1]
        emitted: Output = Counter()
        for k, v, ts in left:
            for other, w, time in right:
                if other == k and abs(time - ts) <= _WAIT_S and (v in fresh or w in fresh):
                    emitted[k, v, w] += 1
                    matched.add(v)
        lost = [row for row in left if row[2] + _WAIT_S < watermark]
        for k, v, _ in lost:
            if v not in matched:
                emitted[k, v, None] += 1
        left = [row for row in left if row[2] + _WAIT_S >= watermark]
        right = [row for row in right if row[2] + _WAIT_S >= watermark]
        watermark = min(
            max(ts for _, v, ts in rows if v % 2 == 0), max(ts for _, v, ts in rows if v % 10 == 1)
        )
        out.append(emitted)
    return out


AGGREGATE = Operator("aggregate", "update", _aggregate, _expect_aggregate)
WINDOWED = Operator("windowed", "update", _windowed, _expect_windowed)
DEDUP = Operator("dedup", "append", _dedup, _expect_dedup)
CHAIN = Operator("chain", "update", _dedup_then_aggregate, _expect_dedup_then_aggregate)
COALESCED = Operator(
    "coalesced", "update", _dedup_coalesced_then_aggregate, _expect_dedup_then_aggregate
)
JOINED = Operator("joined", "append", _joined, _expect_joined)

_ALL = (
    AGGREGATE,
    WINDOWED,
    DEDUP,
    CHAIN,
    COALESCED,
    JOINED,
    NUMBERED,
    NUMBERED_PANDAS,
    TOTALS_PANDAS,
    NUMBERED_FROM,
    NUMBERED_FROM_PANDAS,
)
ALL = {o.name: o for o in _ALL}
