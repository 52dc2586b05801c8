"""Visits of users: session windows, and sessions by arbitrary state."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from guide.example import Example, Input, Rows, at, late

_GAP_MS = 6 * 60_000


def _clicks(rng: random.Random, batch: int) -> Rows:
    # Whose number is even is away in every other batch, so that sessions end.
    users = [u for u in range(60) if u % 2 == 0 or batch % 2 == 0]
    return [
        {"userId": f"user{rng.choice(users)}", "timestamp": at(late(rng, batch))} for _ in range(90)
    ]


_INPUTS = {"events": Input("userId string, timestamp timestamp", _clicks)}


def _static_gap(events: DataFrame) -> DataFrame:
    timed = events.withWatermark("timestamp", "10 minutes")
    return timed.groupBy(F.session_window("timestamp", "5 minutes"), "userId").count()


def _dynamic_gap(events: DataFrame) -> DataFrame:
    gap = F.when(F.col("userId") == "user1", "5 seconds").when(
        F.col("userId").endswith("2"), "12 minutes"
    )
    session = F.session_window("timestamp", gap.otherwise("5 minutes"))
    timed = events.withWatermark("timestamp", "10 minutes")
    return timed.groupBy(session, "userId").count()


def _session(
    key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """A user's session, told when it is over."""
    if state.hasTimedOut:
        count, start, end = state.get
        state.remove()
        told = {"id": [key[0]], "count": [count], "start": [start], "end": [end]}
        yield pd.DataFrame(told)
        return
    count, start, end = state.get if state.exists else (0, 1 << 62, 0)
    for frame in frames:
        count += len(frame)
        start, end = min(start, int(frame["ms"].min())), max(end, int(frame["ms"].max()))
    state.update((count, start, end))
    state.setTimeoutTimestamp(max(end + _GAP_MS, state.getCurrentWatermarkMs() + 1))


def _sessionization(events: DataFrame) -> DataFrame:
    timed = events.withWatermark("timestamp", "10 minutes")
    ms = (F.unix_seconds("timestamp") * 1000).alias("ms")
    return (
        timed.select("userId", "timestamp", ms)
        .groupBy("userId")
        .applyInPandasWithState(
            _session,
            "id string, count long, start long, end long",
            "count long, start long, end long",
            "append",
            GroupStateTimeout.EventTimeTimeout,
        )
    )


def _visit_count(
    key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """A user's visits so far."""
    count = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
    state.update((count,))
    yield pd.DataFrame({"id": [key[0]], "count": [count]})


def _running_count(events: DataFrame) -> DataFrame:
    return events.groupBy("userId").applyInPandasWithState(
        _visit_count, "id string, count long", "count long", "update", GroupStateTimeout.NoTimeout
    )


EXAMPLES = (
    Example("sessions-static-gap", "append", _INPUTS, _static_gap, "hdfs"),
    Example("sessions-dynamic-gap", "append", _INPUTS, _dynamic_gap, "rocksdb-1"),
    Example("sessionization-in-pandas", "append", _INPUTS, _sessionization, "rocksdb-2"),
    Example("running-count-in-pandas", "update", _INPUTS, _running_count, "hdfs"),
)
