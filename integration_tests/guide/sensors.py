"""Sensors, by processors with state: a value, a list, a map, a time to live, timers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from guide.example import Example, Input, Rows, at, late

_DOWN_MS = 12 * 60_000
_HOUR_MS = 3_600_000
_NEWEST = 4


def _measured(rng: random.Random, batch: int) -> Rows:
    # A third of the sensors is away in each batch.
    sensors = [s for s in range(60) if s % 3 != batch % 3]
    return [
        {"id": f"sensor{rng.choice(sensors)}", "temp": rng.randrange(40), "timestamp": at(minutes)}
        for minutes in (late(rng, batch) for _ in range(90))
    ]


_INPUTS = {"readings": Input("id string, temp long, timestamp timestamp", _measured)}


class _Processor(StatefulProcessor):
    def close(self) -> None:
        pass


class Count(_Processor):
    """A sensor's readings so far, forgotten after an hour without one."""

    def init(self, handle: Any) -> None:
        self.count = handle.getValueState("count", "count long", ttlDurationMs=_HOUR_MS)

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        count = self.count.get()[0] if self.count.exists() else 0
        count += sum(len(frame) for frame in rows)
        self.count.update((count,))
        yield pd.DataFrame({"id": [key[0]], "count": [count]})


class Downtime(_Processor):
    """Tells of a sensor that has been silent for long, again and again."""

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.last = handle.getValueState("last", "ms long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        newest = max(int(frame["ms"].max()) for frame in rows)
        if not self.last.exists() or newest > self.last.get()[0]:
            for timer in list(self.handle.listTimers()):
                self.handle.deleteTimer(timer)
            self.last.update((newest,))
            self.handle.registerTimer(newest + _DOWN_MS)
        yield pd.DataFrame({"id": [], "silent": []}).astype({"id": "str", "silent": "int64"})

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pd.DataFrame]:
        now = timerValues.getCurrentWatermarkInMs()
        self.handle.registerTimer(now + _DOWN_MS)
        yield pd.DataFrame({"id": [key[0]], "silent": [now - self.last.get()[0]]})


class Newest(_Processor):
    """The newest readings of a sensor, in a list, and how often each value came, in a map."""

    def init(self, handle: Any) -> None:
        self.newest = handle.getListState("newest", "temp long")
        self.often = handle.getMapState("often", "temp long", "count long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        kept = [temp for (temp,) in self.newest.get()] if self.newest.exists() else []
        for row in rows:
            kept.append(row["temp"])
            value = (row["temp"] % 5,)
            old = self.often.getValue(value)[0] if self.often.containsKey(value) else 0
            self.often.updateValue(value, (old + 1,))
        self.newest.put([(temp,) for temp in kept[-_NEWEST:]])
        often = max(count for (count,) in self.often.values())
        yield Row(id=key[0], newest=sorted(kept[-_NEWEST:]), often=often)


class HighReadings(_Processor):
    """Passes on what is higher than all that the sensor told before, with its time."""

    def init(self, handle: Any) -> None:
        self.highest = handle.getValueState("highest", "temp long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        highest = self.highest.get()[0] if self.highest.exists() else -1
        for row in sorted(rows, key=lambda row: (row["timestamp"], row["temp"])):
            if row["temp"] > highest:
                highest = row["temp"]
                yield Row(timestamp=row["timestamp"], id=key[0], temp=highest)
        self.highest.update((highest,))

    def handleInitialState(self, key: Any, initial: Row, timers: Any) -> None:
        """The highest so far, from elsewhere."""
        self.highest.update((initial["temp"],))


def _count(readings: DataFrame) -> DataFrame:
    return readings.groupBy("id").transformWithStateInPandas(
        Count(), "id string, count long", "Update", "ProcessingTime"
    )


def _downtime(readings: DataFrame) -> DataFrame:
    timed = readings.withWatermark("timestamp", "10 minutes")
    keyed = timed.select("id", "timestamp", (F.unix_seconds("timestamp") * 1000).alias("ms"))
    return keyed.groupBy("id").transformWithStateInPandas(
        Downtime(), "id string, silent long", "Append", "EventTime"
    )


def _newest(readings: DataFrame) -> DataFrame:
    schema = "id string, newest array<long>, often long"
    return readings.groupBy("id").transformWithState(Newest(), schema, "Update", "None")


def _records(readings: DataFrame) -> DataFrame:
    known = readings.sparkSession.range(0, 60, 2).selectExpr(
        "concat('sensor', id) as id", "id % 30 as temp"
    )
    schema = "timestamp timestamp, id string, temp long"
    return readings.groupBy("id").transformWithState(
        HighReadings(), schema, "Append", "None", initialState=known.groupBy("id")
    )


def _high_then_windows(readings: DataFrame) -> DataFrame:
    high = (
        readings.withWatermark("timestamp", "10 minutes")
        .groupBy("id")
        .transformWithState(
            HighReadings(),
            "timestamp timestamp, id string, temp long",
            "Append",
            "EventTime",
            eventTimeColumnName="timestamp",
        )
    )
    window = F.window("timestamp", "20 minutes")
    return high.groupBy(window, (F.col("temp") % 10).alias("digit")).count()


EXAMPLES = (
    Example("processor-time-to-live", "update", _INPUTS, _count, "rocksdb-2", idle=False),
    Example("processor-downtime", "append", _INPUTS, _downtime, "rocksdb-1"),
    Example("processor-list-and-map", "update", _INPUTS, _newest, "rocksdb-2"),
    Example("processor-initial-state", "append", _INPUTS, _records),
    Example("processor-then-windows", "append", _INPUTS, _high_then_windows, "rocksdb-1"),
)
