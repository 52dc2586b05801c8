"""Controllers take turns on a real ZooKeeper, and go on with what another one began."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from harness.commands import at, started
from harness.controllers import (
    Controllers,
    always,
    dies_before_wanted,
    phase_of,
    publish_by_hand,
    reaches,
)
from harness.eventually import eventually
from harness.fake_driver import FakeDriver
from harness.tables import QUERY, tables
from harness.zookeeper import TICK_MS, Stores
from harness.zookeeper_proxy import DELETES, ZooKeeperProxy

from keyroute.v1.reconfiguration_pb2 import (
    COMMIT,
    MIGRATE,
    PREPARE,
    PROPAGATE,
    PUBLISH,
    Phase,
)
from keyroute.zookeeper.connection import Credentials, close, connect
from keyroute.zookeeper.election import Leadership
from keyroute.zookeeper.errors import StoreForbidden
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store


def _dies_before_reconfiguration(store: Store, _: FakeDriver) -> int:
    store.tables.write(tables(1), by="dead", now_ms=0)
    return 1


def _dies_before_propagate(store: Store, driver: FakeDriver) -> int:
    version = publish_by_hand(store)
    driver.poll()
    assert phase_of(store) == (version, PREPARE)
    return version


def _dies_in(phase: Phase) -> Callable[[Store, FakeDriver], int]:
    def die(store: Store, driver: FakeDriver) -> int:
        version = publish_by_hand(store)
        driver.poll()
        state = store.query(QUERY)
        assert state.reconfiguration.value is not None
        state.reconfiguration.value.phase = PROPAGATE
        store.write_reconfiguration(
            QUERY, state.reconfiguration.value, state.reconfiguration.znode_version
        )
        if phase == MIGRATE:
            driver.poll()
        assert phase_of(store) == (version, phase)
        return version

    return die


@pytest.mark.parametrize(
    "dies",
    [dies_before_wanted, _dies_before_propagate, _dies_in(PROPAGATE), _dies_in(MIGRATE)],
    ids=["publish", "prepare", "propagate", "migrate"],
)
def test_another_controller_finishes_what_one_began(
    store: Store,
    driver: FakeDriver,
    controllers: Controllers,
    dies: Callable[[Store, FakeDriver], int],
) -> None:
    version = dies(store, driver)
    with driver.running(), controllers.running("another"):
        reaches(store, version, COMMIT)
    assert driver.version == version == 1


def test_a_version_that_nobody_asked_for_stays_unused(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    _dies_before_reconfiguration(store, driver)
    with driver.running(), controllers.running("another", decide=always):
        reaches(store, 2, COMMIT)
    assert (1, PUBLISH) not in driver.seen


def test_a_killed_controller_is_followed_by_the_one_that_waits(
    store: Store,
    zookeeper: ZooKeeperServer,
    driver: FakeDriver,
    controllers: Controllers,
    tmp_path: Path,
) -> None:
    observer = Leadership(store.tables.session.client, store.tree, "observer")
    log = tmp_path / "controller.log"
    with started(log, "controller", "--planner", "hash", *at(zookeeper, store.tree)) as first:
        eventually(20, "the first works", lambda: "this controller's turn: " in log.read_text())
        with driver.running(), controllers.running("heir"):
            eventually(10, "the heir waits", lambda: observer.contenders()[1:] == ("heir",))
            first.kill()
            first.wait()
            version = publish_by_hand(store)
            reaches(store, version, COMMIT)
    assert observer.contenders() == ()
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert value.version == version


def test_while_waiting_for_its_turn_a_controller_can_be_stopped(
    stores: Stores, controllers: Controllers
) -> None:
    holder = stores()
    turn = Leadership(holder.tables.session.client, holder.tree, "holder")
    assert turn.acquire(threading.Event())
    with controllers.running("second"):
        eventually(10, "the second waits", lambda: len(turn.contenders()) == 2)
    assert turn.contenders() == ("holder",)
    late = Leadership(holder.tables.session.client, holder.tree, "late")
    assert not late.acquire(threading.Event(), timeout_s=0.3)
    turn.release()
    assert turn.contenders() == ()
    last = Leadership(holder.tables.session.client, holder.tree, "last")
    assert last.acquire(threading.Event(), timeout_s=10)
    assert last.held
    assert not turn.held


def test_a_turn_is_not_lost_with_the_connection_alone(tree: Tree) -> None:
    with ZooKeeperServer(tick_ms=TICK_MS) as own:
        client = connect(own.connect_string)
        turn = Leadership(client, tree, "holder")
        assert turn.acquire(threading.Event())
        assert not turn.suspended
        own.stop()
        eventually(10, "the connection is away", lambda: turn.suspended)
        assert turn.held
        turn.release()
        assert not turn.held
        close(client)


def test_a_turn_is_given_up_where_zookeeper_falls_silent(
    zookeeper: ZooKeeperServer, tree: Tree
) -> None:
    with ZooKeeperProxy(zookeeper.port, session_ms=40 * TICK_MS) as proxy:
        client = connect(proxy.connect_string)
        turn = Leadership(client, tree, "holder")
        assert turn.acquire(threading.Event())
        proxy.hold(tree.election, kinds=DELETES)
        release = threading.Thread(target=turn.release, daemon=True)
        release.start()
        proxy.held()
        release.join(20)
        assert not release.is_alive(), "the controller cannot be stopped"
        proxy.drop()
        close(client)


def test_a_turn_that_zookeeper_forbids_is_refused_with_what_to_do(stores: Stores) -> None:
    owner = stores(Credentials("keyroute", "secret"))
    assert Leadership(owner.tables.session.client, owner.tree, "one").acquire(threading.Event(), 10)
    stranger = stores()
    turn = Leadership(stranger.tables.session.client, stranger.tree, "two")
    with pytest.raises(StoreForbidden, match="zookeeper-auth-file"):
        turn.acquire(threading.Event(), 10)
    turn.release()
