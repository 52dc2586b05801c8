"""A table applied by hand switches a running query, and every emitted row stays exact.

For each operator, state store provider, checkpoint format, and with changelog checkpointing on and
off: two random tables, the empty table, and a restart in between.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.operators import (
    AGGREGATE,
    CHAIN,
    DEDUP,
    NUMBERED,
    NUMBERED_PANDAS,
    WINDOWED,
    Operator,
)
from harness.running import Running
from pyspark.sql import SparkSession

from keyroute.zookeeper.store import Store

_STATE = "org.apache.spark.sql.keyroute.state."
_ROCKSDB = {"provider": _STATE + "RoutedRocksDBStateStoreProvider"}
STORES = {
    "rocksdb-1-changelog": {**_ROCKSDB, "format": "1", "changelog": "true"},
    "rocksdb-1": {**_ROCKSDB, "format": "1", "changelog": "false"},
    "rocksdb-2-changelog": {**_ROCKSDB, "format": "2", "changelog": "true"},
    "rocksdb-2": {**_ROCKSDB, "format": "2", "changelog": "false"},
    "hdfs": {
        "provider": _STATE + "RoutedHDFSBackedStateStoreProvider",
        "format": "1",
        "changelog": "false",
    },
}
_KEYS = {
    "provider": "spark.sql.streaming.stateStore.providerClass",
    "format": "spark.sql.streaming.stateStore.checkpointFormatVersion",
    "changelog": "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
}

# Python operators are slow to start: every provider for the JVM's, the cells that differ for these.
CELLS = [(o, s) for o in (AGGREGATE, WINDOWED, DEDUP, CHAIN) for s in STORES] + [
    (NUMBERED, "rocksdb-1-changelog"),
    (NUMBERED, "rocksdb-2"),
    (NUMBERED_PANDAS, "rocksdb-2-changelog"),
]


def use(spark: SparkSession, store: str) -> None:
    """Sets the state store of the queries that start from now on."""
    for name, value in STORES[store].items():
        spark.conf.set(_KEYS[name], value)


@pytest.mark.parametrize(
    ("operator", "state_store"), CELLS, ids=[f"{o.name}-{s}" for o, s in CELLS]
)
def test_switches_and_stays_exact(
    spark: SparkSession, spark_store: Store, tmp_path: Path, operator: Operator, state_store: str
) -> None:
    use(spark, state_store)
    running = Running(spark, spark_store, operator, tmp_path)
    running.start()
    running.run(3)

    first = running.switch(seed=1)
    assert first.committed, first.sentence
    running.run(1)

    running.stop()
    running.start()
    running.run(2)

    second = running.switch(seed=2)
    assert second.committed, second.sentence
    running.run(1)
    back = running.switch(seed=None)
    assert back.committed, back.sentence
    running.run(1)
    running.stop()

    assert not running.differences()
    in_force = spark_store.query(running.id).in_force
    assert in_force is not None
    assert in_force.version == back.version
