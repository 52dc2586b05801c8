"""The key of an operator in Python is found by name, also where its rows leave it out later on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from harness.eventually import eventually
from harness.gateways import statistics
from harness.operator import Batch, Operator, Output
from harness.python_operators import Number, NumberPandas
from harness.running import Running
from harness.stores import use
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from keyroute.core.hashes import spark_hash
from keyroute.core.statistics import EdgeStatistics
from keyroute.zookeeper.store import Store

_NUMBERED = "k string, g string, v long, n long"
_BATCHES = 2


def _groups(rows: DataFrame) -> DataFrame:
    return rows.select("g").dropDuplicates(["g"])


def _in_rows(frame: DataFrame) -> DataFrame:
    keyed = frame.select("k", "g", "v").groupBy("k")
    return _groups(keyed.transformWithState(Number(), _NUMBERED, "Append", "None"))


def _in_pandas(frame: DataFrame) -> DataFrame:
    keyed = frame.select("k", "g", "v").groupBy("k")
    numbered = keyed.transformWithStateInPandas(NumberPandas(), _NUMBERED, "Update", "None")
    return numbered.groupBy("g").count()


def _with_state(frame: DataFrame) -> DataFrame:
    # A function within a function travels with the plan.
    def pass_on(
        _: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState
    ) -> Iterator[pd.DataFrame]:
        state.update((1,))
        for rows in frames:
            yield rows[["k", "g"]]

    return _groups(
        frame.select("k", "g")
        .groupBy("k")
        .applyInPandasWithState(
            pass_on, "k string, g string", "seen long", "append", GroupStateTimeout.NoTimeout
        )
    )


def _expect_groups(batches: list[Batch]) -> list[Output]:
    seen: set[str] = set()
    out = []
    for batch in batches:
        fresh = {row["g"] for row in batch} - seen
        seen |= fresh
        out.append(Counter((g,) for g in fresh))
    return out


def _expect_counts(batches: list[Batch]) -> list[Output]:
    count: Counter[str] = Counter()
    out = []
    for batch in batches:
        count.update(row["g"] for row in batch)
        out.append(Counter((g, count[g]) for g in {row["g"] for row in batch}))
    return out


_EACH_ROW = (
    Operator("in_rows", "append", _in_rows, _expect_groups),
    Operator("with_state", "append", _with_state, _expect_groups),
)
_AGGREGATED = Operator("in_pandas", "update", _in_pandas, _expect_counts)


@pytest.mark.parametrize("operator", [*_EACH_ROW, _AGGREGATED], ids=lambda o: o.name)
def test_pairs_of_python_operators(
    spark: SparkSession, spark_store: Store, gateway_token: Path, tmp_path: Path, operator: Operator
) -> None:
    use(spark, "rocksdb-2-changelog")
    running = Running(spark, spark_store, operator, tmp_path)
    running.start()
    running.run(_BATCHES)

    def edge() -> EdgeStatistics | None:
        """The only one, once all batches are in it."""
        periods = statistics(spark_store, gateway_token, running.id).periods
        edges = [edge for period in periods for edge in period.edges]
        done = bool(periods) and periods[-1].last_batch == _BATCHES - 1
        return edges[0] if done and len(edges) == 1 else None

    counted = eventually(20, "the edge's rows", edge)
    pairs = counted.pairs
    found = Counter(
        dict(
            zip(
                zip(pairs.upstream.tolist(), pairs.downstream.tolist(), strict=True),
                pairs.counts.tolist(),
                strict=True,
            )
        )
    )
    came = Counter(
        (_print(row["k"]), _print(row["g"])) for batch in running.feed.batches for row in batch
    )
    assert pairs.rows == counted.rows == sum(found.values())
    if operator in _EACH_ROW:
        assert found == came
    else:
        # A group's rows of one task are one: it counts for one of its keys.
        assert set(found) <= set(came)
        assert 0 < pairs.rows < sum(came.values())
    assert not running.differences()
    running.stop()


def _print(text: str) -> int:
    return spark_hash([text], ["string"])[1]
