"""The driver, or an executor, is killed at a point of a switch; the query goes on exactly.

The points are reached by user code that blocks (`apps/counting.py`); the product has no hook.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.application import ROOT
from harness.change import propagate
from harness.eventually import eventually
from harness.killable import Killable
from harness.operators import AGGREGATE

from keyroute.v1.reconfiguration_pb2 import PREPARE, PROPAGATE
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store


@pytest.fixture
def killable(
    spark_zookeeper: ZooKeeperServer, spark_store: Store, tmp_path: Path
) -> Iterator[Killable]:
    conf = {
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    }
    query = Killable(AGGREGATE, tmp_path, spark_zookeeper.connect_string, ROOT, spark_store, conf)
    query.start()
    yield query
    query.kill()


def _propagated(killable: Killable) -> int:
    """A table that the driver has stored and was told to switch to; its version."""
    killable.run(3)
    version = killable.publish(seed=5)
    propagate(killable.store, killable.id, version)
    return version


def _goes_on_exactly(killable: Killable, version: int) -> None:
    killable.start()
    for _ in range(8):
        killable.run(1)
        if killable.carry(version, 1.5).committed:
            break
    killable.run(1)
    killable.finish()
    assert not killable.differences()
    in_force = killable.store.query(killable.id).in_force
    assert in_force is not None
    assert in_force.version == version


def test_driver_killed_while_the_handoff_runs(killable: Killable) -> None:
    killable.run(3)
    version = killable.publish(seed=5)
    killable.hold("occupy")
    killable.held("occupy")

    def prepared() -> bool:
        value = killable.store.query(killable.id).reconfiguration.value
        return value is not None and value.phase in (PREPARE, PROPAGATE)

    eventually(30, "the table is in the checkpoint", prepared)
    killable.carry(version, 1)
    # Every core is taken, so the handoff job of this batch waits for its tasks.
    killable.feed.put([{"k": "k1", "g": "g1", "v": 1, "ts": "2026-01-01T00:03:00"}])
    switch = len(killable.feed.batches) - 1
    killable.wait_for(
        killable.folder / "checkpoint" / "keyroute" / "handoff" / str(switch), "the handoff began"
    )
    assert not _route_entry(killable, switch).exists()
    killable.kill()
    killable.release("occupy")
    _goes_on_exactly(killable, version)


def test_driver_killed_after_the_route_entry(killable: Killable) -> None:
    version = _propagated(killable)
    switch = len(killable.feed.batches)
    killable.hold(f"before-{switch}")
    killable.feed.put([{"k": "k1", "g": "g1", "v": 1, "ts": "2026-01-01T00:03:00"}])
    killable.held(f"before-{switch}")
    assert _route_entry(killable, switch).exists()
    killable.kill()
    killable.release(f"before-{switch}")
    _goes_on_exactly(killable, version)


def test_driver_killed_with_some_partitions_committed(killable: Killable) -> None:
    version = _propagated(killable)
    switch = len(killable.feed.batches)
    killable.hold(f"within-{switch}")
    killable.feed.put(
        [{"k": f"k{i}", "g": "g1", "v": i, "ts": "2026-01-01T00:03:00"} for i in range(97)]
    )
    killable.held(f"within-{switch}")
    killable.held(f"first-within-{switch}")
    killable.kill()
    killable.release(f"within-{switch}")
    _goes_on_exactly(killable, version)


def test_executor_killed_in_the_switch(killable: Killable) -> None:
    version = _propagated(killable)
    switch = len(killable.feed.batches)
    killable.hold(f"within-{switch}")
    killable.feed.put(
        [{"k": f"k{i}", "g": "g1", "v": i, "ts": "2026-01-01T00:03:00"} for i in range(97)]
    )
    killable.held(f"within-{switch}")
    killable.kill_an_executor()
    killable.release(f"within-{switch}")
    killable.run(2)
    assert killable.carry(version, 10).committed
    killable.finish()
    assert not killable.differences()


def _route_entry(killable: Killable, batch: int) -> Path:
    return killable.folder / "checkpoint" / "keyroute" / "routes" / str(batch)
