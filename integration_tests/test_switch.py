"""A table applied by hand switches a running query, and every emitted row stays exact.

Two random tables, the empty table, and a restart in between; each state store provider, checkpoint
format, and changelog checkpointing on and off.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.gateways import rows_moved
from harness.operators import (
    AGGREGATE,
    CHAIN,
    COALESCED,
    DEDUP,
    JOINED,
    NUMBERED,
    NUMBERED_FROM,
    NUMBERED_FROM_PANDAS,
    NUMBERED_PANDAS,
    TOTALS_PANDAS,
    WINDOWED,
    Operator,
)
from harness.running import Running
from harness.stores import STORES, use
from pyspark.sql import SparkSession

from keyroute.zookeeper.store import Store

_ROCKSDB = [store for store in STORES if store != "hdfs"]
# The Scala SwitchMatrixSuite runs aggregate, windowed, dedup and a Scala transformWithState on
# every store, and JoinSwitchSuite the joins. Here, on executors of their own, Python's
# transformWithState is there on every store that Spark allows, and the others on some.
CELLS = [(numbered, store) for numbered in (NUMBERED, NUMBERED_PANDAS) for store in _ROCKSDB] + [
    (AGGREGATE, "rocksdb-1-changelog"),
    (AGGREGATE, "hdfs"),
    (WINDOWED, "rocksdb-1"),
    (DEDUP, "rocksdb-2-changelog"),
    (CHAIN, "hdfs"),
    (COALESCED, "rocksdb-2"),
    (JOINED, "rocksdb-2-changelog"),
    (TOTALS_PANDAS, "rocksdb-2-changelog"),
    (TOTALS_PANDAS, "hdfs"),
    (NUMBERED_FROM, "rocksdb-1-changelog"),
    (NUMBERED_FROM_PANDAS, "rocksdb-2"),
]


@pytest.mark.parametrize(
    ("operator", "state_store"), CELLS, ids=[f"{o.name}-{s}" for o, s in CELLS]
)
def test_switches_and_stays_exact(
    spark: SparkSession,
    spark_store: Store,
    gateway_token: Path,
    tmp_path: Path,
    operator: Operator,
    state_store: str,
) -> None:
    use(spark, state_store)
    running = Running(spark, spark_store, operator, tmp_path)
    running.start()
    running.run(2)

    first = running.switch(seed=1)
    assert first.committed, first.sentence
    assert rows_moved(spark_store, gateway_token, running.id, first.version) > 0
    running.run(1)

    running.stop()
    running.start()
    running.run(1)

    second = running.switch(seed=2)
    assert second.committed, second.sentence
    assert rows_moved(spark_store, gateway_token, running.id, second.version) > 0
    back = running.switch(seed=None)
    assert back.committed, back.sentence
    running.run(1)
    running.stop()

    assert not running.differences()
    in_force = spark_store.query(running.id).in_force
    assert in_force is not None
    assert in_force.version == back.version
