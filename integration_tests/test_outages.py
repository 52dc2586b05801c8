"""ZooKeeper goes away, or loses everything; the query goes on, and can be changed again after."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from differential import routelog
from harness.application import ROOT
from harness.commands import started
from harness.eventually import eventually
from harness.operators import AGGREGATE
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession

from keyroute.controller.snapshot import take_snapshot
from keyroute.zookeeper.errors import Conflict, StoreUnreachable
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store


def test_zookeeper_stops_and_starts_again(
    spark: SparkSession, spark_zookeeper: ZooKeeperServer, spark_store: Store, tmp_path: Path
) -> None:
    use(spark, "rocksdb-1-changelog")
    running = Running(spark, spark_store, AGGREGATE, tmp_path)
    running.start()
    running.run(1)
    first = running.switch(seed=1)
    assert first.committed, first.sentence
    spark_zookeeper.stop()
    try:
        running.run(2)
        # It also starts again without ZooKeeper, with the table that its checkpoint names.
        running.stop()
        running.start()
        running.run(1)
        entries = routelog.entries(running.checkpoint)
        assert entries[len(running.feed.batches) - 1].table_version == first.version
    finally:
        spark_zookeeper.start()
    second = running.switch(seed=2)
    assert second.committed, second.sentence
    running.run(1)
    running.stop()
    assert not running.differences()


def _emptied(store: Store, query_id: str) -> bool:
    """Deletes all nodes; the driver may write its own anew meanwhile."""
    with suppress(Conflict):
        store.tables.session.delete_tree(ROOT)
    state = store.query(query_id)
    return not state.versions and state.wanted is None


def test_zookeeper_is_emptied(spark: SparkSession, spark_store: Store, tmp_path: Path) -> None:
    use(spark, "rocksdb-1-changelog")
    running = Running(spark, spark_store, AGGREGATE, tmp_path)
    running.start()
    running.run(1)
    for seed in (1, 2):
        outcome = running.switch(seed)
        assert outcome.committed, outcome.sentence
    eventually(30, "all nodes are deleted", lambda: _emptied(spark_store, running.id))
    running.run(1)

    def written_anew() -> bool:
        snapshot = take_snapshot(spark_store, running.id)
        in_force = snapshot.state.in_force
        return bool(
            snapshot.application
            and snapshot.state.meta
            and in_force
            and in_force.version == outcome.version
        )

    eventually(30, "the driver has written its nodes anew", written_anew)
    third = running.switch(seed=3)
    assert third.committed, third.sentence
    assert third.version > outcome.version
    running.run(1)
    running.stop()
    assert not running.differences()


def test_zookeeper_starts_again_without_its_data(
    spark: SparkSession,
    spark_zookeeper: ZooKeeperServer,
    spark_zookeeper_data: Path,
    spark_store: Store,
    gateway_token: Path,
    tmp_path: Path,
) -> None:
    use(spark, "rocksdb-1-changelog")
    running = Running(spark, spark_store, AGGREGATE, tmp_path)
    running.start()
    running.run(1)
    first = running.switch(seed=1)
    assert first.committed, first.sentence
    log = tmp_path / "controller.log"
    where = (f"--zookeeper={spark_zookeeper.connect_string}", f"--root={ROOT}")
    with started(log, "controller", *where, f"--gateway-token-file={gateway_token}") as controller:
        eventually(60, "the controller works", lambda: "turn: attending" in log.read_text())
        spark_zookeeper.stop()
        shutil.rmtree(spark_zookeeper_data / "data")
        running.run(1)
        # All clients have seen more changes than this server will know of for a while.
        spark_zookeeper.start()

        def written_anew() -> bool:
            with suppress(StoreUnreachable):
                snapshot = take_snapshot(spark_store, running.id)
                in_force = snapshot.state.in_force
                return bool(snapshot.application and in_force and in_force.version == first.version)
            return False

        eventually(60, "the driver has written its nodes anew", written_anew)
        turns = "turn: attending"
        eventually(60, "the controller has a new turn", lambda: log.read_text().count(turns) == 2)
        assert controller.poll() is None
    second = running.switch(seed=2)
    assert second.committed, second.sentence
    assert second.version > first.version
    running.run(1)
    running.stop()
    assert not running.differences()
