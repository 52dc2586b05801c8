"""Spark Connect: the server has KeyRoute, its client knows nothing of it. The query that the client
starts switches, and what the client sees stays exact."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.change import carry, propagate, publish_random
from harness.child import environment
from harness.cluster import PARTITIONS, QUICK, jvm
from harness.commands import keyroute
from harness.eventually import eventually
from harness.feed import Feed, rows
from harness.gateways import rows_moved
from harness.operators import AGGREGATE
from harness.submit import submitted

from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer, free_port
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_HERE = Path(__file__).parent
_SERVER = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer")
_START_S, _ANSWER_S, _END_S, _MOST_BATCHES = 180, 180, 60, 12


def test_a_query_of_a_connect_client_switches(
    spark_zookeeper: ZooKeeperServer, tree: Tree, tmp_path: Path
) -> None:
    port, token = free_port(), tmp_path / "token"
    conf = {
        "spark.plugins": "io.keyroute.spark.KeyRoutePlugin",
        "spark.keyroute.zookeeper.connect": spark_zookeeper.connect_string,
        "spark.keyroute.zookeeper.root": tree.root,
        "spark.keyroute.gateway.tokenFile": str(token),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.driver.extraJavaOptions": jvm({}),
        "spark.ui.enabled": "false",
        **QUICK,
    }
    jar = keyroute("jar").stdout.strip()
    options = (*_SERVER, "--master", "local[2]", "--jars", jar)
    feed = Feed(tmp_path / "in")
    with submitted(tmp_path / "log", Path("spark-internal"), options=options, conf=conf) as server:

        def listens() -> bool:
            assert server.poll() is None, (tmp_path / "log").read_text()
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        eventually(_START_S, "the server listens", listens)
        zookeeper = connect(spark_zookeeper.connect_string)
        try:
            with _client(port, tmp_path) as client:
                _switch(Store(Session(zookeeper), tree), token, feed, client)
        finally:
            close(zookeeper)


def _switch(store: Store, token: Path, feed: Feed, client: subprocess.Popen[str]) -> None:
    query_id = _line(client)

    def run() -> None:
        feed.put(rows(len(feed.batches)))
        assert client.stdin is not None
        client.stdin.write("on\n")
        client.stdin.flush()
        seen = sorted(tuple(row) for row in json.loads(_line(client)))
        # The newest of each key.
        last = {row[0]: row for batch in AGGREGATE.expected(feed.batches) for row in batch}
        assert seen == sorted(last.values())

    run()
    run()
    version = publish_random(store, query_id, feed.batches, seed=1)
    outcome = propagate(store, query_id, version)
    for _ in range(_MOST_BATCHES):
        if outcome.ended:
            break
        run()
        outcome = carry(store, query_id, version, 1.0)
    assert outcome.committed, outcome.sentence
    assert rows_moved(store, token, query_id, version) > 0
    run()


def _line(client: subprocess.Popen[str]) -> str:
    """What the client says next. One that hangs is killed: then there is no more line."""
    assert client.stdout is not None
    deadline = threading.Timer(_ANSWER_S, client.kill)
    deadline.start()
    try:
        line = client.stdout.readline()
    finally:
        deadline.cancel()
    assert line, "the client has ended, or was killed because it said nothing"
    return line.strip()


@contextmanager
def _client(port: int, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The client's process, with nothing of ours on its path but the tests' own feed and query."""
    with (folder / "client.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, str(_HERE / "apps" / "remote.py"), str(port), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment(with_package=False),
        )
    try:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(_END_S) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
