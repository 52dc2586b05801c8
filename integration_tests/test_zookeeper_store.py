"""The store on a real ZooKeeper: tables, compare-and-set, credentials, restarts."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from harness.eventually import eventually
from harness.tables import QUERY, shape, tables
from harness.zookeeper import TICK_MS, Stores

from keyroute.core import table_codec
from keyroute.v1.reconfiguration_pb2 import PREPARE, PUBLISH, Reconfiguration
from keyroute.zookeeper.connection import Credentials, close, connect
from keyroute.zookeeper.errors import (
    Conflict,
    Damaged,
    ServerError,
    StoreForbidden,
    StoreUnreachable,
    TableMissing,
    VersionTaken,
)
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.payloads import InForce, QueryMeta, Wanted
from keyroute.zookeeper.server import ZooKeeperServer, free_port
from keyroute.zookeeper.session import ABSENT, Session
from keyroute.zookeeper.store import Store
from keyroute.zookeeper.tables import CHUNK_BYTES


def _session(store: Store) -> Session:
    return store.tables.session


def test_a_table_above_one_megabyte_comes_back_as_written(store: Store) -> None:
    big = tables(1, entries=200_000)
    meta = store.tables.write(big, by="test", now_ms=7)
    assert meta.size_bytes > 1_500_000
    assert meta.chunks == -(-meta.size_bytes // CHUNK_BYTES) > 1
    assert store.tables.read(QUERY, 1) == big
    assert store.tables.list(QUERY) == (meta,)
    assert meta.hash == table_codec.content_hash(table_codec.encode(big))


def test_a_version_is_never_written_twice(store: Store) -> None:
    first = tables(1, seed=1)
    store.tables.write(first, by="one", now_ms=0)
    with pytest.raises(VersionTaken):
        store.tables.write(tables(1, seed=2), by="two", now_ms=0)
    assert store.tables.read(QUERY, 1) == first


def test_a_version_without_meta_does_not_exist_but_its_number_is_taken(store: Store) -> None:
    _session(store).create(store.tree.table_chunk(QUERY, 4, 0), b"half")
    assert store.tables.list(QUERY) == ()
    with pytest.raises(TableMissing):
        store.tables.read(QUERY, 4)
    assert store.query(QUERY).next_version() == 5


def test_a_changed_chunk_is_found_out(store: Store) -> None:
    store.tables.write(tables(1), by="test", now_ms=0)
    path = store.tree.table_chunk(QUERY, 1, 0)
    node = _session(store).read(path)
    assert node is not None
    flipped = node.data[:-1] + bytes([node.data[-1] ^ 1])
    _session(store).compare_and_set(path, flipped, node.version)
    with pytest.raises(Damaged, match="does not match its hash"):
        store.tables.read(QUERY, 1)


def test_old_versions_go_but_those_in_force_and_wanted_stay(store: Store) -> None:
    for version in range(1, 15):
        store.tables.write(tables(version), by="test", now_ms=0)
    store.write_wanted(QUERY, Wanted(3, "h"))
    _session(store).create(store.tree.in_force(QUERY), InForce(2, "h", 9).encode())
    assert store.prune(store.query(QUERY)) == (1, 4)
    assert store.tables.numbers(QUERY) == (2, 3, *range(5, 15))


def test_of_two_writers_one_loses(stores: Stores) -> None:
    one, two = stores(), stores()
    publish = Reconfiguration(format=1, phase=PUBLISH, version=1, by="one")
    assert one.query(QUERY).reconfiguration.znode_version == ABSENT
    version = one.write_reconfiguration(QUERY, publish, ABSENT)
    other = Reconfiguration(format=1, phase=PUBLISH, version=1, by="two")
    with pytest.raises(Conflict):
        two.write_reconfiguration(QUERY, other, ABSENT)
    prepare = Reconfiguration(format=1, phase=PREPARE, version=1, by="two")
    two.write_reconfiguration(QUERY, prepare, version)
    with pytest.raises(Conflict):
        one.write_reconfiguration(QUERY, publish, version)
    assert one.query(QUERY).reconfiguration.value == prepare


def test_a_write_that_was_answered_late_counts_as_done(store: Store) -> None:
    value = Reconfiguration(format=1, phase=PUBLISH, version=1, by="me", updated_ms=5)
    store.write_reconfiguration(QUERY, value, ABSENT)
    store.write_reconfiguration(QUERY, value, ABSENT)
    assert store.query(QUERY).reconfiguration.znode_version == 0


def test_the_next_version_is_above_all_that_is_known(store: Store) -> None:
    assert store.query(QUERY).next_version() == 1
    store.tables.write(tables(3), by="test", now_ms=0)
    store.write_wanted(QUERY, Wanted(5, "h"))
    state = store.query(QUERY)
    assert state.next_version() == 6
    assert state.next_version(drivers_own=8) == 9


def test_meta_carries_shapes(store: Store) -> None:
    meta = QueryMeta(QUERY, "flights", (shape(0), shape(1)))
    _session(store).create(store.tree.meta(QUERY), meta.encode())
    assert store.query(QUERY).meta == meta
    assert store.query_ids() == (QUERY,)


def test_with_a_secret_others_are_kept_out(stores: Stores) -> None:
    owner = stores(Credentials("keyroute", "secret"))
    owner.tables.write(tables(1), by="test", now_ms=0)
    assert stores(Credentials("keyroute", "secret")).tables.read(QUERY, 1) == tables(1)
    with pytest.raises(StoreForbidden, match="zookeeper-auth-file"):
        stores().tables.read(QUERY, 1)


def test_a_restart_of_zookeeper_is_ridden_out(
    store: Store, stores: Stores, zookeeper: ZooKeeperServer
) -> None:
    store.tables.write(tables(1), by="test", now_ms=0)
    hasty = stores(deadline_s=0.5)
    zookeeper.stop()
    try:
        with pytest.raises(StoreUnreachable):
            hasty.tables.read(QUERY, 1)
    finally:
        zookeeper.start()
    assert store.tables.read(QUERY, 1) == tables(1)
    eventually(10, "the other session is back", lambda: hasty.tables.list(QUERY))


def test_nothing_there_is_said_clearly() -> None:
    with pytest.raises(StoreUnreachable, match="keyroute zookeeper"):
        connect(f"127.0.0.1:{free_port()}", connect_timeout_s=0.5)


def test_a_port_in_use_is_said_clearly(zookeeper: ZooKeeperServer, tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="in use"):
        ZooKeeperServer(port=zookeeper.port, data_dir=tmp_path).start()


def test_a_zookeeper_that_lost_its_data_lets_its_clients_in_again(
    tree: Tree, tmp_path: Path
) -> None:
    with ZooKeeperServer(data_dir=tmp_path, tick_ms=TICK_MS) as own:
        client = connect(own.connect_string, session_timeout_s=2.0)
        session = Session(client)
        # Every write is a change that the new server has not seen.
        for number in range(20):
            assert session.create(f"{tree.root}/{number}", b"")
        own.stop()
        shutil.rmtree(tmp_path / "data")
        own.start()

        def let_in() -> bool:
            with suppress(StoreUnreachable):
                return session.children(tree.root) == ()
            return False

        eventually(30, "the client is let in", let_in)
        assert session.create(f"{tree.root}/anew", b"")
        close(client)
