"""The real controller process plans for a running query and changes it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from harness.application import ROOT
from harness.commands import keyroute, started
from harness.correlated import BATCHES, ROWS, correlated
from harness.eventually import eventually
from harness.gateways import statistics
from harness.operators import NUMBERED
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession

from keyroute.v1.reconfiguration_pb2 import COMMIT, Reconfiguration
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store


@pytest.fixture
def running(spark: SparkSession, spark_store: Store, tmp_path: Path) -> Iterator[Running]:
    """A query of two operators that has run long enough for a plan."""
    use(spark, "rocksdb-1-changelog")
    query = Running(spark, spark_store, NUMBERED, tmp_path, correlated)
    query.start()
    query.run(BATCHES)
    yield query
    query.stop()


@contextmanager
def _controller(zookeeper: ZooKeeperServer, token: Path, log: Path) -> Iterator[Popen[bytes]]:
    flags = (
        "--interval=1",
        f"--min-rows={ROWS * (BATCHES - 1)}",
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
    _once_says_whether_it_could_plan(spark_zookeeper, gateway_token, tmp_path)
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


def _once_says_whether_it_could_plan(zookeeper: ZooKeeperServer, token: Path, folder: Path) -> None:
    wrong = folder / "wrong-token"
    wrong.write_text("not the driver's")
    wrong.chmod(0o600)
    where = ("--zookeeper", zookeeper.connect_string, "--root", ROOT, "--min-rows", "1000000000")
    for file, code, says in ((wrong, 3, "token"), (token, 0, "a plan needs 1,000,000,000")):
        for mode in ("--once", "--dry-run"):
            done = keyroute("controller", mode, *where, "--gateway-token-file", str(file))
            assert (done.returncode, says in done.stdout) == (code, True), done.stdout + done.stderr
