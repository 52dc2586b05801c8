"""A table applied by hand switches a running query, and every emitted row stays exact.

For each operator, state store provider, checkpoint format, and with changelog checkpointing on and
off: two random tables, the empty table, and a restart in between.
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

# The Scala SwitchMatrixSuite runs aggregate, windowed, dedup and a Scala transformWithState on
# every store. Here, on executors of their own, every store is there for aggregate, and every
# operator for some of the stores.
CELLS = [(AGGREGATE, store) for store in STORES] + [
    (WINDOWED, "rocksdb-1"),
    (WINDOWED, "rocksdb-2-changelog"),
    (DEDUP, "rocksdb-1-changelog"),
    (DEDUP, "hdfs"),
    (CHAIN, "rocksdb-2"),
    (CHAIN, "hdfs"),
    (COALESCED, "rocksdb-1-changelog"),
    (JOINED, "rocksdb-2-changelog"),
    (JOINED, "hdfs"),
    (NUMBERED, "rocksdb-1-changelog"),
    (NUMBERED, "rocksdb-2"),
    (NUMBERED_PANDAS, "rocksdb-2-changelog"),
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
    running.run(3)

    first = running.switch(seed=1)
    assert first.committed, first.sentence
    assert rows_moved(spark_store, gateway_token, running.id, first.version) > 0
    running.run(1)

    running.stop()
    running.start()
    running.run(2)

    second = running.switch(seed=2)
    assert second.committed, second.sentence
    assert rows_moved(spark_store, gateway_token, running.id, second.version) > 0
    running.run(1)
    back = running.switch(seed=None)
    assert back.committed, back.sentence
    running.run(1)
    running.stop()

    assert not running.differences()
    in_force = spark_store.query(running.id).in_force
    assert in_force is not None
    assert in_force.version == back.version
