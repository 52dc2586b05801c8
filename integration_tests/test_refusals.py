"""What must be refused is refused, and the query goes on exactly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from harness.change import BY, publish_tables, registered
from harness.child import environment
from harness.eventually import eventually
from harness.operators import AGGREGATE
from harness.random_tables import random_tables
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession

from keyroute.controller.reconfigure import Context, published
from keyroute.core.table import GroupShape, GroupTable, RoutingTables, default_slots
from keyroute.v1.reconfiguration_pb2 import ABORT, Reconfiguration
from keyroute.zookeeper.payloads import Wanted
from keyroute.zookeeper.store import Store

_HERE = Path(__file__).parent


@pytest.fixture
def running(spark: SparkSession, spark_store: Store, tmp_path: Path) -> Running:
    use(spark, "rocksdb-1-changelog")
    query = Running(spark, spark_store, AGGREGATE, tmp_path)
    query.start()
    query.run(1)
    return query


def _one_entry(shape: GroupShape) -> GroupTable:
    return GroupTable(shape, np.array([7], dtype=np.int64), np.array([1], dtype=np.int32))


def _publish_shape(running: Running, change: Callable[[GroupShape], GroupShape]) -> int:
    snapshot = registered(running.store, running.id)
    assert snapshot.state.meta is not None
    shape = change(snapshot.state.meta.groups[0])
    return publish_tables(
        running.store, snapshot, lambda v: RoutingTables(v, running.id, (_one_entry(shape),))
    )


def _publish_damaged(running: Running) -> int:
    """A version one of whose bytes was changed after it was written."""
    store, state = running.store, registered(running.store, running.id).state
    assert state.meta is not None
    version, context = state.next_version(), Context(BY, 0)
    tables = random_tables(version, running.id, state.meta.groups, running.feed.batches, 3)
    meta = store.tables.write(tables, by=BY, now_ms=0)
    chunk, session = store.tree.table_chunk(running.id, version, 0), store.tables.session
    node = session.read(chunk)
    assert node is not None
    middle = len(node.data) // 2
    damaged = node.data[:middle] + bytes([node.data[middle] ^ 1]) + node.data[middle + 1 :]
    session.compare_and_set(chunk, damaged, node.version)
    change = published(version, meta.hash, context)
    store.write_reconfiguration(running.id, change, state.reconfiguration.znode_version)
    store.write_wanted(running.id, Wanted(version, meta.hash))
    return version


def _refused(running: Running, version: int) -> str:
    """The reason, once the version was given up."""

    def look() -> Reconfiguration | None:
        value = running.store.query(running.id).reconfiguration.value
        return value if value and (value.version, value.phase) == (version, ABORT) else None

    return eventually(30, f"version {version} is given up", look).reason


def test_wrong_tables_are_refused(running: Running) -> None:
    more = _publish_shape(running, lambda s: replace(s, partitions=5, slots=default_slots(5)))
    assert "5" in (reason := _refused(running, more)), reason
    assert "partitions" in reason
    running.run(1)
    typed = _publish_shape(running, lambda s: replace(s, key_types=("bigint",)))
    assert "bigint" in (reason := _refused(running, typed)), reason
    running.run(1)
    damaged = _publish_damaged(running)
    assert "damaged" in (reason := _refused(running, damaged)), reason
    running.run(1)
    # The next good one is taken.
    outcome = running.switch(seed=4)
    assert outcome.committed, outcome.sentence
    assert outcome.version > damaged
    running.run(1)
    running.stop()
    assert not running.differences()


def test_without_the_jar_spark_refuses_to_go_on(running: Running, tmp_path: Path) -> None:
    outcome = running.switch(seed=1)
    assert outcome.committed, outcome.sentence
    running.stop()
    # Spark reads a checkpoint's provider when there is something to process.
    running.feed.put(running.make_rows(len(running.feed.batches)))
    said = subprocess.run(
        [sys.executable, str(_HERE / "apps" / "plain.py"), str(tmp_path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    ).stdout
    assert "refused: " in said
    assert "RoutedRocksDBStateStoreProvider" in said
    # With it the query goes on where it was.
    running.start()
    running.settle()
    running.stop()
    assert not running.differences()
