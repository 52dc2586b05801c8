"""One Spark application with three executors and KeyRoute, and a ZooKeeper beside it, for a whole
session of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.bare_files import bare_files
from harness.cluster import QUICK, builder
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

ROOT = "/keyroute"
ZONE = "zone-a"
_HOST = "127.0.0.1"
_MAPPER = "org.apache.spark.storage.FileBasedTopologyMapper"


@pytest.fixture(scope="session")
def spark_zookeeper_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the application's ZooKeeper keeps its data."""
    return tmp_path_factory.mktemp("zookeeper")


@pytest.fixture(scope="session")
def spark_zookeeper(spark_zookeeper_data: Path) -> Iterator[ZooKeeperServer]:
    """The application's ZooKeeper; a test that stops it must start it again."""
    # A controller that was killed keeps its turn until its session is over: 1 s is the shortest.
    with ZooKeeperServer(data_dir=spark_zookeeper_data, tick_ms=500) as server:
        yield server


@pytest.fixture(scope="session")
def gateway_token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The application's token file; the driver makes it."""
    return tmp_path_factory.mktemp("gateway") / "token"


@pytest.fixture(scope="session")
def spark_application(
    spark_zookeeper: ZooKeeperServer,
    gateway_token: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SparkSession]:
    """The application. Its host is in the zone `ZONE`."""
    zones = tmp_path_factory.mktemp("zones") / "zones"
    zones.write_text(f"{_HOST}={ZONE}\n")
    # Small periods, so that a controller can plan after some batches of a test.
    conf = {
        **QUICK,
        **bare_files(),
        "spark.keyroute.statistics.periodRows": "5000",
        "spark.storage.replication.topologyMapper": _MAPPER,
        "spark.storage.replication.topologyFile": str(zones),
    }
    plain = builder(spark_zookeeper.connect_string, ROOT, gateway_token, extra=conf)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SPARK_LOCAL_IP", _HOST)
        session = plain.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def spark(spark_application: SparkSession) -> Iterator[SparkSession]:
    """The application's session; the queries of a test end with it, however it ends."""
    yield spark_application
    for query in spark_application.streams.active:
        query.stop()


@pytest.fixture(scope="session")
def spark_store(spark_zookeeper: ZooKeeperServer) -> Iterator[Store]:
    """The application's nodes."""
    client = connect(spark_zookeeper.connect_string)
    yield Store(Session(client), Tree(ROOT))
    close(client)
