"""Words are counted: all of them, and by windows of event time."""

from __future__ import annotations

import random

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from guide.example import Example, Input, Rows, at, late

_VOCABULARY = [f"{first}{last}" for first in ("owl", "dog", "cat", "bee") for last in range(15)]


def _lines(rng: random.Random, batch: int) -> Rows:
    def word() -> str:
        return _VOCABULARY[int(len(_VOCABULARY) * rng.random() ** 2)]

    return [
        {"value": " ".join(word() for _ in range(4)), "timestamp": at(late(rng, batch))}
        for _ in range(25)
    ]


_LINES = Input("value string, timestamp timestamp", _lines)


def _words(lines: DataFrame) -> DataFrame:
    return lines.select(F.explode(F.split("value", " ")).alias("word"), "timestamp")


def _count(lines: DataFrame) -> DataFrame:
    return _words(lines).groupBy("word").count()


def _count_in_order(lines: DataFrame) -> DataFrame:
    return _count(lines).orderBy(F.desc("count"), "word")


def _sliding(lines: DataFrame) -> DataFrame:
    window = F.window("timestamp", "10 minutes", "5 minutes")
    return _words(lines).groupBy(window, "word").count()


def _sliding_with_watermark(lines: DataFrame) -> DataFrame:
    return _sliding(lines.withWatermark("timestamp", "10 minutes"))


def _tumbling(lines: DataFrame) -> DataFrame:
    timed = _words(lines.withWatermark("timestamp", "10 minutes"))
    return timed.groupBy(F.window("timestamp", "10 minutes"), "word").count()


def _windows_of_windows(lines: DataFrame) -> DataFrame:
    return (
        _tumbling(lines)
        .groupBy(F.window("window", "30 minutes"), "word")
        .agg(F.sum("count").alias("count"), F.count("*").alias("windows"))
    )


def _windows_of_window_times(lines: DataFrame) -> DataFrame:
    time = F.window_time("window")
    return _tumbling(lines).groupBy(F.window(time, "30 minutes"), "word").sum("count")


_INPUTS = {"lines": _LINES}

EXAMPLES = (
    Example("word-count-complete", "complete", _INPUTS, _count_in_order, "hdfs"),
    Example("word-count-update", "update", _INPUTS, _count),
    Example("windows-complete", "complete", _INPUTS, _sliding, "rocksdb-2"),
    Example("windows-update", "update", _INPUTS, _sliding_with_watermark, "rocksdb-1"),
    Example("windows-append", "append", _INPUTS, _sliding_with_watermark, "rocksdb-2-changelog"),
    Example("tumbling-append", "append", _INPUTS, _tumbling, "hdfs"),
    Example("windows-of-windows", "append", _INPUTS, _windows_of_windows),
    Example("windows-of-window-times", "append", _INPUTS, _windows_of_window_times, "hdfs"),
)

# Modes that Spark refuses for a query.
REFUSED = (
    Example("append-without-watermark", "append", _INPUTS, _count),
    Example("complete-without-aggregation", "complete", _INPUTS, _words),
    Example("sorted-update", "update", _INPUTS, _count_in_order),
)
