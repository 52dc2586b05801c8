"""Every planner plans for one running query, one after the other, through `keyroute controller`.

Before each the query gets a table by hand that keeps no row local and all rows on two of its
partitions, so that each planner has something to mend.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from harness.application import ROOT
from harness.change import publish_tables, registered
from harness.correlated import GROUPS, KEYS, correlated
from harness.gateways import statistics
from harness.operators import NUMBERED
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from keyroute import planners
from keyroute.cli.main import app
from keyroute.core.hashes import spark_hash
from keyroute.core.table import GroupShape, GroupTable, RoutingTables
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store

_ROWS = 5200
_ASKED = {
    # As many as there are: several partitions share one.
    "metis": ("--executors", "2"),
    "dkg": ("--option", "theta=0.02"),
    "autoflow": ("--option", "factor=0.02", "--max-moved", "0.9"),
}


def _run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, (result.stdout, result.stderr, result.exception)
    return json.loads(result.stdout)


@contextmanager
def _fed(running: Running) -> Iterator[None]:
    """Batch after batch, meanwhile."""
    stop = threading.Event()

    def feed() -> None:
        while not stop.is_set():
            running.run(1)

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _crowded(shape: GroupShape, one: int, other: int) -> GroupTable:
    """All keys on two partitions; a key of one group never meets one of its own partition."""
    of_k = shape.key_names == ("k",)
    names = [f"k{i}" for i in range(KEYS)] if of_k else [f"g{i}" for i in range(GROUPS)]
    entries = {
        spark_hash([name], ["string"])[1]: one if (i % 2 == 0) == of_k else other
        for i, name in enumerate(names)
    }
    prints = sorted(entries)
    targets = np.array([entries[p] for p in prints], dtype=np.int32)
    return GroupTable(shape, np.array(prints, dtype=np.int64), targets)


def _elsewhere(running: Running, token: Path) -> int:
    """A partition that is on another executor than the first one is."""
    for _ in range(12):
        placed = statistics(running.store, token, running.id).placed
        for partition, executor in enumerate(placed):
            if executor != placed[0]:
                return partition
        # Executors that register late, and reports that come late, are there a batch later.
        running.run(1)
    raise AssertionError("all partitions are on one executor")


def _spoil(running: Running, token: Path) -> None:
    elsewhere = _elsewhere(running, token)
    snapshot = registered(running.store, running.id)
    meta = snapshot.state.meta
    assert meta is not None
    groups = tuple(_crowded(shape, 0, elsewhere) for shape in meta.groups)
    version = publish_tables(
        running.store, snapshot, lambda number: RoutingTables(number, running.id, groups)
    )
    outcome = running.finish(version)
    assert outcome.committed, outcome.sentence


@pytest.fixture
def running(spark: SparkSession, spark_store: Store, tmp_path: Path) -> Iterator[Running]:
    use(spark, "rocksdb-1-changelog")
    query = Running(spark, spark_store, NUMBERED, tmp_path, lambda batch: correlated(batch)[:_ROWS])
    query.start()
    query.run(1)
    yield query
    query.stop()


def test_each_planner_plans_for_a_running_query(
    running: Running, spark_zookeeper: ZooKeeperServer, gateway_token: Path, tmp_path: Path
) -> None:
    where = (
        f"--zookeeper={spark_zookeeper.connect_string}",
        f"--root={ROOT}",
        f"--gateway-token-file={gateway_token}",
        "--json",
    )
    how = ("--once", "--interval=0.1", f"--min-rows={_ROWS}", f"--holdout-rows={_ROWS}")
    for name in planners.names():
        _spoil(running, gateway_token)
        running.run(1)
        before = statistics(running.store, gateway_token, running.id).periods[-1]
        assert before.measured_locality() == 0
        dump = tmp_path / f"{name}.dump"
        _run("dump", running.id, str(dump), *where)
        foreseen = _run("plan", str(dump), "--planner", name, "--json", *_ASKED.get(name, ()))
        with _fed(running):
            planned = ("--planner", name, *_ASKED.get(name, ()))
            (report,) = _run("controller", *how, *planned, *where)
        assert report["committed"], report
        running.run(1)
        now = statistics(running.store, gateway_token, running.id)
        assert now.table_version == report["version"]
        assert now.periods[-1].measured_locality() == pytest.approx(foreseen["locality"], abs=0.1)
        tables = running.store.tables.read(running.id, report["version"])
        assert (tables.entries == 0) == (name == "hash")
        assert sorted(set(tables.parts)) == ([0, 1] if name == "metis" else [])
    assert not running.differences()
