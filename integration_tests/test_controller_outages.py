"""ZooKeeper restarts, or loses everything, under a running controller."""

from __future__ import annotations

from harness.controllers import (
    Controllers,
    always,
    reaches,
)
from harness.eventually import eventually
from harness.fake_driver import FakeDriver

from keyroute.v1.reconfiguration_pb2 import COMMIT
from keyroute.zookeeper.errors import Conflict
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store


def test_a_restart_of_zookeeper_is_ridden_out(
    store: Store, driver: FakeDriver, controllers: Controllers, zookeeper: ZooKeeperServer
) -> None:
    with driver.running(), controllers.running(decide=always):
        reaches(store, 1, COMMIT)
        zookeeper.stop()
        zookeeper.start()
        last = driver.version
        eventually(30, "changes go on after the restart", lambda: driver.version > last)


def test_an_emptied_zookeeper_does_no_harm(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    driver.version, driver.hash = 41, "in the checkpoint"
    with driver.running():
        eventually(10, "all is deleted, between two writes of the driver", lambda: _emptied(store))
        with controllers.running(decide=always):
            reaches(store, 42, COMMIT)
    assert driver.version >= 42


def _emptied(store: Store) -> bool:
    try:
        store.tables.session.delete_tree(store.tree.queries)
    except Conflict:
        return False
    return True
