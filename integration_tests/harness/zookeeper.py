"""One real ZooKeeper a session, a root of its own for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest

from keyroute.zookeeper.connection import Credentials, close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.retry import Retry
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

# Short ticks bound every session to 2 s, whatever the clients ask for.
TICK_MS = 100


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[ZooKeeperServer]:
    """A running server; a test that stops it must start it again."""
    with ZooKeeperServer(tick_ms=TICK_MS) as server:
        yield server


@pytest.fixture
def tree() -> Tree:
    """A root that no other test uses."""
    return Tree(f"/keyroute-{uuid4().hex[:12]}")


Stores = Callable[..., Store]


@pytest.fixture
def stores(zookeeper: ZooKeeperServer, tree: Tree) -> Iterator[Stores]:
    """Makes stores on the test's root, each with a session of its own."""
    clients = []

    def make(credentials: Credentials | None = None, deadline_s: float = 10.0) -> Store:
        client = connect(zookeeper.connect_string, credentials=credentials)
        clients.append(client)
        return Store(Session(client, Retry(deadline_s=deadline_s)), tree)

    yield make
    for client in clients:
        close(client)


@pytest.fixture
def store(stores: Stores) -> Store:
    """One store on the test's root."""
    return stores()
