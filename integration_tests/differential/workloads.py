"""The queries that the bench runs. Spark alone says what they must give, so none has a model.

Each gives the same rows in each batch, whatever the order in which rows reach an operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from harness.feed import Feed
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout


@dataclass(frozen=True)
class StateRead:
    """How Spark's state data source reads one of an operator's stores or variables.

    Attributes:
        key: fields of the state's key that make up the exchange's key, in its order; None: all.
    """

    operator: int = 0
    options: dict[str, str] = field(default_factory=dict)
    key: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Workload:
    """One query over the feed's frame.

    Attributes:
        columns: of a row of the feed, under the names that the operators' keys have.
    """

    name: str
    mode: str
    build: Callable[[DataFrame], DataFrame]
    states: tuple[StateRead, ...] = (StateRead(),)
    needs_families: bool = False
    columns: Callable[[dict[str, Any]], dict[str, Any]] = lambda row: row

    def read(self, session: SparkSession, folder: Path) -> DataFrame:
        """The query over the feed in a folder."""
        return self.build(Feed(folder / "in").stream(session))


def _totals(frame: DataFrame) -> DataFrame:
    return frame.groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("s"))


def _tumbling(frame: DataFrame) -> DataFrame:
    window = F.window("ts", "5 minutes")
    return frame.withWatermark("ts", "3 minutes").groupBy(window, "k").agg(F.sum("v").alias("s"))


def _sliding(frame: DataFrame) -> DataFrame:
    window = F.window("ts", "6 minutes", "3 minutes")
    return frame.withWatermark("ts", "4 minutes").groupBy("g", window).count()


def _distinct(frame: DataFrame) -> DataFrame:
    return frame.select("k", "g").distinct()


def _dedup_with_time(frame: DataFrame) -> DataFrame:
    # Which of a key's rows comes first does not show: a key's rows of one time are alike.
    return frame.withWatermark("ts", "4 minutes").select("k", "ts").dropDuplicates(["k", "ts"])


def _dedup_then_totals(frame: DataFrame) -> DataFrame:
    return frame.select("k", "g").dropDuplicates(["k", "g"]).groupBy("g").count()


def _same_key_twice(frame: DataFrame) -> DataFrame:
    return frame.select("k").dropDuplicates(["k"]).groupBy("k").count()


def _subset_of_key(frame: DataFrame) -> DataFrame:
    return frame.select("k", "g").dropDuplicates(["k", "g"]).groupBy("k").count()


def _windows_of_windows(frame: DataFrame) -> DataFrame:
    fine = frame.withWatermark("ts", "3 minutes").groupBy(F.window("ts", "2 minutes"), "k", "g")
    coarse = fine.count().groupBy(F.window(F.window_time("window"), "4 minutes"), "g")
    return coarse.agg(F.sum("count").alias("rows"), F.count("*").alias("parts"))


def _union(frame: DataFrame) -> DataFrame:
    even = frame.where("v % 2 = 0").select("k", "v")
    odd = frame.where("v % 2 = 1").select("k", (-F.col("v")).alias("v"))
    return even.unionByName(odd).groupBy("k").agg(F.sum("v").alias("s"), F.count("*").alias("n"))


def _join(kind: str) -> Callable[[DataFrame], DataFrame]:
    near = "k = rk and rts >= ts - interval 2 minutes and rts <= ts + interval 2 minutes"

    def build(frame: DataFrame) -> DataFrame:
        timed = frame.withWatermark("ts", "1 minute")
        left = timed.where("v % 2 = 0").select("k", "v", "ts")
        right = timed.where("v % 3 = 0").selectExpr("k as rk", "v as rv", "ts as rts")
        return left.join(right, F.expr(near), kind)

    return build


class Ledger(StatefulProcessor):
    """Keeps a total, a list, a map; emits a key's figures once a batch."""

    def init(self, handle: Any) -> None:
        self.total = handle.getValueState("total", "n long, s long")
        self.seen = handle.getListState("seen", "v long")
        self.kinds = handle.getMapState("kinds", "kind long", "n long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timers: Any) -> Iterator[Row]:
        n, s = self.total.get() if self.total.exists() else (0, 0)
        for row in rows:
            n, s = n + 1, s + row["v"]
            self.seen.appendValue((row["v"],))
            kind = (row["v"] % 4,)
            old = self.kinds.getValue(kind)[0] if self.kinds.containsKey(kind) else 0
            self.kinds.updateValue(kind, (old + 1,))
        self.total.update((n, s))
        listed = sum(v for (v,) in self.seen.get())
        mapped = sum(n for (n,) in self.kinds.values())
        yield Row(k=key[0], n=n, s=s, listed=listed, mapped=mapped)

    def close(self) -> None:
        pass


class LedgerPandas(StatefulProcessor):
    """A total and a list, in pandas mode."""

    def init(self, handle: Any) -> None:
        self.total = handle.getValueState("total", "n long, s long")
        self.seen = handle.getListState("seen", "v long")

    def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[pd.DataFrame]:
        n, s = self.total.get() if self.total.exists() else (0, 0)
        for frame in rows:
            n, s = n + len(frame), s + int(frame["v"].sum())
            for v in frame["v"]:
                self.seen.appendValue((int(v),))
        self.total.update((n, s))
        listed = sum(v for (v,) in self.seen.get())
        yield pd.DataFrame({"g": [key[0]], "n": [n], "s": [s], "listed": [listed]})

    def close(self) -> None:
        pass


def _ledger(frame: DataFrame) -> DataFrame:
    keyed = frame.select("k", "v").groupBy("k")
    out = "k string, n long, s long, listed long, mapped long"
    return keyed.transformWithState(Ledger(), out, "Update", "None")


def _ledger_pandas(frame: DataFrame) -> DataFrame:
    keyed = frame.select("g", "v").groupBy("g")
    out = "g string, n long, s long, listed long"
    return keyed.transformWithStateInPandas(LedgerPandas(), out, "Update", "None")


def _sessions(frame: DataFrame) -> DataFrame:
    session = F.session_window("ts", "90 seconds")
    return frame.withWatermark("ts", "3 minutes").groupBy("k", session).agg(F.sum("v").alias("s"))


def _dedup_within_watermark(frame: DataFrame) -> DataFrame:
    timed = frame.withWatermark("ts", "2 minutes")
    return timed.dropDuplicatesWithinWatermark(["k"]).select("k", "v")


def _count_until_timeout(
    key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """A key's figures, once a batch, until no row of it came for a minute of event time."""
    n, s = state.get if state.exists else (0, 0)
    over = state.hasTimedOut
    if over:
        state.remove()
    else:
        last = 0
        for frame in frames:
            n, s = n + len(frame), s + int(frame["v"].sum())
            last = max(last, int(frame["at"].max()))
        state.update((n, s))
        state.setTimeoutTimestamp(max(last, state.getCurrentWatermarkMs()) + 60_000)
    yield pd.DataFrame({"k": [key[0]], "n": [n], "s": [s], "over": [over]})


def _group_state(frame: DataFrame) -> DataFrame:
    timed = frame.withWatermark("ts", "1 minute")
    keyed = timed.select("k", "v", "ts", (F.unix_seconds("ts") * 1000).alias("at")).groupBy("k")
    return keyed.applyInPandasWithState(
        _count_until_timeout,
        "k string, n long, s long, over boolean",
        "n long, s long",
        "update",
        GroupStateTimeout.EventTimeTimeout,
    )


def _of_scala(name: str) -> Callable[[DataFrame], DataFrame]:
    """One of `BenchQueries`, whose keys are those of its initial states."""

    def build(frame: DataFrame) -> DataFrame:
        spark = frame.sparkSession
        # Spark's Scala processors take no null key.
        number = F.coalesce(F.substring("k", 2, 9), F.lit("none"))
        rows = frame.select(F.concat(F.lit("key-"), number).alias("k"), "v", "ts")
        queries = spark._jvm.org.apache.spark.sql.keyroute.handoff.BenchQueries
        return DataFrame(queries.build(name, rows._jdf), spark)

    return build


def _scala_key(row: dict[str, Any]) -> dict[str, Any]:
    return {"value": "key-none" if row["k"] is None else f"key-{row['k'][1:]}"}


_SIDES = tuple(StateRead(0, {"joinSide": side}) for side in ("left", "right"))


_TIMERS = StateRead(0, {"readRegisteredTimers": "true"})


def _variables(operator: int, *names: str) -> tuple[StateRead, ...]:
    return tuple(StateRead(operator, {"stateVarName": name}) for name in names)


ALL = {
    w.name: w
    for w in (
        Workload("totals", "update", _totals),
        Workload("totals-complete", "complete", _totals),
        Workload("tumbling", "append", _tumbling),
        Workload("sliding", "update", _sliding),
        Workload("distinct", "append", _distinct),
        Workload("dedup-with-time", "append", _dedup_with_time),
        Workload("union", "update", _union),
        *(
            Workload(f"join-{kind}", "append", _join(kind), _SIDES)
            for kind in ("inner", "left_outer", "right_outer", "full_outer", "left_semi")
        ),
        Workload("sessions", "append", _sessions, (StateRead(key=("k",)),)),
        Workload("dedup-within-watermark", "append", _dedup_within_watermark),
        Workload("group-state", "update", _group_state),
        Workload("dedup-then-totals", "update", _dedup_then_totals, (StateRead(0), StateRead(1))),
        Workload("same-key-twice", "update", _same_key_twice, (StateRead(0), StateRead(1))),
        Workload("subset-of-key", "update", _subset_of_key, (StateRead(0), StateRead(1))),
        Workload("windows-of-windows", "append", _windows_of_windows, (StateRead(0), StateRead(1))),
        *(
            Workload(name, "update", _of_scala(name), columns=_scala_key)
            for name in ("map-groups", "flat-map-groups", "flat-map-groups-initial")
        ),
        # One in processing time would never be without a batch to run.
        Workload(
            "processor-initial",
            "update",
            _of_scala("processor-initial"),
            (*_variables(0, "seen"), _TIMERS),
            True,
            _scala_key,
        ),
        Workload("ledger", "update", _ledger, _variables(0, "total", "seen", "kinds"), True),
        Workload("ledger-pandas", "update", _ledger_pandas, _variables(0, "total", "seen"), True),
    )
}
