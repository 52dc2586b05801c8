"""The real controller process plans for a running query, and another goes on when it is killed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from harness.application import ROOT
from harness.commands import started
from harness.eventually import eventually
from harness.gateways import statistics
from harness.operators import NUMBERED, Batch
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession

from keyroute.controller.reconfigure import ENDED
from keyroute.v1.reconfiguration_pb2 import COMMIT, Reconfiguration
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store

_KEYS, _GROUPS = 96, 12
_ROWS = 7000
_BATCHES = 6


def _correlated(batch: int) -> Batch:
    """Every key has one group, so that a good table keeps nearly all rows where they are."""
    first = batch * _ROWS
    return [
        {
            "k": f"k{i % _KEYS}",
            "g": f"g{i % _KEYS % _GROUPS}",
            "v": i,
            "ts": f"2026-01-01T00:{batch % 60:02d}:00",
        }
        for i in range(first, first + _ROWS)
    ]


@pytest.fixture
def running(spark: SparkSession, spark_store: Store, tmp_path: Path) -> Iterator[Running]:
    """A query of two operators that has run long enough for a plan."""
    use(spark, "rocksdb-1-changelog")
    query = Running(spark, spark_store, NUMBERED, tmp_path, _correlated)
    query.start()
    query.run(_BATCHES)
    yield query
    query.stop()


@contextmanager
def _controller(zookeeper: ZooKeeperServer, token: Path, log: Path) -> Iterator[Popen[bytes]]:
    flags = (
        "--interval=1",
        f"--min-rows={_ROWS * (_BATCHES - 1)}",
        f"--gateway-token-file={token}",
    )
    where = (f"--zookeeper={zookeeper.connect_string}", f"--root={ROOT}")
    with started(log, "controller", *where, *flags) as process:
        yield process


def _change(running: Running) -> Reconfiguration | None:
    return running.store.query(running.id).reconfiguration.value


def test_the_controller_plans_and_changes_a_running_query(
    running: Running, spark_zookeeper: ZooKeeperServer, gateway_token: Path, tmp_path: Path
) -> None:
    log = tmp_path / "controller.log"
    with _controller(spark_zookeeper, gateway_token, log) as process:
        eventually(60, "a plan is published", lambda: _change(running))
        for _ in range(8):
            running.run(1)
            change = _change(running)
            if change is not None and change.phase == COMMIT:
                break
        assert change is not None, log.read_text()
        assert change.phase == COMMIT, log.read_text()
        running.run(2)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    counted = statistics(running.store, gateway_token, running.id)
    before = next(p for p in counted.periods if p.table_version == 0).measured_locality()
    after = counted.periods[-1]
    assert after.table_version == change.version
    # Measured where the rows ran, not taken from the table.
    assert before is not None
    assert before < 0.6
    assert (after.measured_locality() or 0) > 0.9, (before, log.read_text())
    assert not running.differences()


def test_another_controller_goes_on_with_the_change(
    running: Running, spark_zookeeper: ZooKeeperServer, gateway_token: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.log", tmp_path / "second.log"
    with _controller(spark_zookeeper, gateway_token, first) as process:
        change = eventually(60, "a plan is published", lambda: _change(running))
        process.kill()
        process.wait()
    assert change.phase not in ENDED
    with _controller(spark_zookeeper, gateway_token, second):
        eventually(60, "the second has its turn", lambda: "turn: attending" in second.read_text())
        running.run(1)
        for _ in range(8):
            now = _change(running)
            if now is not None and now.phase in ENDED:
                break
            running.run(1)
    assert now is not None
    assert (now.version, now.phase) == (change.version, COMMIT), second.read_text()
    running.run(1)
    assert not running.differences()
