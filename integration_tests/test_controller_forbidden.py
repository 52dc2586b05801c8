"""One application has a secret that the controller was not given: the others are attended to."""

from __future__ import annotations

import threading

import pytest
from harness.controllers import attendant_of
from harness.fake_driver import FakeDriver, FakeGateways
from harness.tables import QUERY
from harness.zookeeper import Stores

from keyroute.controller.attendance import Clock
from keyroute.controller.daemon import Daemon
from keyroute.controller.once import run_once
from keyroute.controller.overview import look
from keyroute.zookeeper.connection import Credentials
from keyroute.zookeeper.payloads import Application, Live
from keyroute.zookeeper.store import Store

SECRET = "0bad0bad-0000-4000-8000-000000000000"


@pytest.fixture
def forbidden(stores: Stores, driver: FakeDriver) -> str:
    """The node of an open root that another user's query keeps to itself; it comes first."""
    owner = stores(Credentials("keyroute", "secret"))
    session, tree = owner.tables.session, driver.store.tree
    session.create(tree.app("app-0"), Application("app-0", "127.0.0.1", 1).encode())
    session.create(tree.live(SECRET), Live("app-0", "run").encode())
    return tree.query(SECRET)


def test_the_daemon_complains_of_it_once_and_attends_to_the_others(
    store: Store, driver: FakeDriver, forbidden: str, caplog: pytest.LogCaptureFixture
) -> None:
    attendant = attendant_of(store, driver)
    daemon = Daemon(attendant, lambda: pytest.fail("no turn is needed"), threading.Event())
    for _ in range(2):
        assert daemon.tick()
    (complaint,) = (record.message for record in caplog.records if SECRET in record.message)
    assert complaint.startswith(f"{SECRET}: ZooKeeper refuses the access to {forbidden}/")
    assert complaint.endswith("start with the --zookeeper-auth-file that Spark's driver uses.")
    assert store.query(QUERY).versions == (1,)


def test_once_fails_for_it_alone(store: Store, driver: FakeDriver, forbidden: str) -> None:
    with driver.running():
        attendant = attendant_of(store, driver)
        refused, done = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (refused.query_id, refused.failed) == (SECRET, True)
    assert f"refuses the access to {forbidden}/" in refused.sentence
    assert (done.version, done.committed) == (1, True)


def test_status_tells_of_it_and_shows_the_others(
    store: Store, driver: FakeDriver, forbidden: str
) -> None:
    overview = look(store, FakeGateways(driver))
    assert [query.query_id for query in overview.queries] == [QUERY]
    assert [application.app_id for application in overview.applications] == ["app-1"]
    nodes = (forbidden, store.tree.app("app-0"))
    assert [
        f"refuses the access to {node}" in said
        for node, said in zip(nodes, overview.damaged, strict=True)
    ] == [True, True]
