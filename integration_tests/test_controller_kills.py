"""The controller is killed in each phase of a change to a running query; the next one goes on.

One change is carried by a relay of controllers, each of which dies in the phase that the one before
it died in front of. Where a write must not happen, a proxy before ZooKeeper holds it.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from apps import blocked_planner
from differential import routelog
from harness.application import ROOT
from harness.commands import started
from harness.correlated import BATCHES, GROUPS, KEYS, ROWS, correlated
from harness.eventually import eventually
from harness.gate import Gate
from harness.gateways import status
from harness.operators import NUMBERED
from harness.running import Running
from harness.stores import use
from harness.zookeeper_proxy import ZooKeeperProxy
from pyspark.sql import SparkSession

from keyroute.v1.reconfiguration_pb2 import COMMIT, MIGRATE, PREPARE, PROPAGATE, PUBLISH, Phase
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import QueryState, Store

_SESSION_MS = 2000


@dataclass
class Relay:
    """Controllers, one after the other, for one running query."""

    running: Running
    # Kept here: asking the query for it needs the driver, which stands still once.
    query_id: str
    proxy: ZooKeeperProxy
    token: Path
    folder: Path
    logs: list[Path] = field(default_factory=list)

    @contextmanager
    def controller(
        self, *flags: str, environment: dict[str, str] | None = None
    ) -> Iterator[Callable[[], str]]:
        """The next one, killed at the end; its log so far."""
        log = self.folder / f"controller-{len(self.logs)}.log"
        self.logs.append(log)
        where = (f"--zookeeper={self.proxy.connect_string}", f"--root={ROOT}")
        how = (f"--gateway-token-file={self.token}", f"--min-rows={ROWS * (BATCHES - 1)}")
        arguments = ("controller", *where, *how, "--interval=1", *flags)
        with started(log, *arguments, environment=environment):
            yield log.read_text

    @contextmanager
    def held(self, path_part: str, containing: str = "") -> Iterator[None]:
        """The next controller, up to a write that never arrives."""
        self.proxy.hold(path_part, containing.encode())
        with self.controller():
            self.proxy.held()
            yield
        self.proxy.drop()

    def state(self) -> QueryState:
        return self.running.store.query(self.query_id)

    def phase(self) -> Phase | None:
        value = self.state().reconfiguration.value
        return None if value is None else value.phase

    def reaches(self, phase: Phase) -> None:
        eventually(60, f"the change is in {Phase.Name(phase)}", lambda: self.phase() == phase)


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def relay(
    spark: SparkSession,
    spark_store: Store,
    spark_zookeeper: ZooKeeperServer,
    gateway_token: Path,
    gate: Gate,
    tmp_path: Path,
) -> Iterator[Relay]:
    """A query of two operators that has run long enough for a plan."""
    use(spark, "rocksdb-1-changelog")
    query = Running(spark, spark_store, NUMBERED, tmp_path, correlated)
    query.start(gate)
    query.run(BATCHES)
    with ZooKeeperProxy(spark_zookeeper.port, _SESSION_MS) as proxy:
        yield Relay(query, query.id, proxy, gateway_token, tmp_path)
    gate.open()
    query.stop()


@contextmanager
def _driver_stands_still(spark: SparkSession) -> Iterator[None]:
    """The driver's JVM is stopped, as by a long collection of garbage."""
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_change_survives_its_controller_in_every_phase(
    spark: SparkSession, relay: Relay, gate: Gate, tmp_path: Path
) -> None:
    running = relay.running

    # PLAN: all is collected, nothing is written.
    installed = blocked_planner.install(tmp_path / "installed")
    marker = Path(installed[blocked_planner.MARKER])
    with relay.controller("--planner=blocked", environment=installed):
        eventually(60, "a controller plans", marker.exists)
    assert (relay.phase(), relay.state().versions) == (None, ())
    running.run(1)

    # The tables are written, and nobody says so: their number stays unused.
    with relay.held("/reconfiguration", "PUBLISH"):
        pass
    assert (relay.phase(), relay.state().versions) == (None, (1,))
    running.run(1)

    # PUBLISH: what is to be wanted is known, and not asked for.
    with relay.held("/wanted"):
        pass
    assert (relay.phase(), relay.state().wanted) == (PUBLISH, None)
    running.run(1)

    # PUBLISH: asked for, and not acknowledged.
    relay.proxy.hold("/wanted")
    with relay.controller():
        relay.proxy.held()
        with _driver_stands_still(spark):
            relay.proxy.release()
            eventually(30, "a version is asked for", lambda: relay.state().wanted)
            assert relay.phase() == PUBLISH
    relay.reaches(PREPARE)
    running.run(1)

    # PREPARE: acknowledged, and no word given.
    with relay.held("/reconfiguration", "PROPAGATE"):
        pass
    assert relay.phase() == PREPARE
    running.run(1)
    entries = routelog.entries(running.checkpoint).values()
    assert [e.table_version for e in entries] == [0] * len(entries), "switched without the word"
    assert entries

    # PROPAGATE: the word is given, no batch has begun.
    with relay.controller():
        relay.reaches(PROPAGATE)

    # MIGRATE: the batch that switches is being run.
    gate.shut()
    with relay.controller() as log:
        eventually(60, "the next has its turn", lambda: "turn: attending" in log())
        running.feed.put(running.make_rows(len(running.feed.batches)))
        gate.reached()
        relay.reaches(MIGRATE)
    gate.open()
    relay.reaches(COMMIT)
    running.settle()

    # COMMIT: the next finds nothing to finish.
    with relay.controller() as log:
        eventually(60, "the next looks at the query", lambda: "numbered: stays" in log())
    _in_force_once(relay)
    running.run(1)
    running.stop()
    assert not running.differences()
    _state_is_there_once(spark, running)


def _in_force_once(relay: Relay) -> None:
    state = relay.state()
    # The first number was taken by a controller that died before it could say so.
    assert state.versions == (1, 2)
    assert state.in_force is not None
    assert state.in_force.version == 2
    switches = status(relay.running.store, relay.token, relay.query_id).switches
    assert [(s.from_version, s.to_version, s.batch) for s in switches] == [
        (0, 2, state.in_force.batch)
    ]
    assert switches[0].rows_moved > 0


def _state_is_there_once(spark: SparkSession, running: Running) -> None:
    for operator, keys in ((0, GROUPS), (1, KEYS)):
        reader = spark.read.format("statestore").option("stateVarName", "last")
        state = reader.option("operatorId", operator).load(str(running.checkpoint))
        found = Counter(tuple(row[0]) for row in state.select("key").collect())
        assert len(found) == keys
        assert set(found.values()) == {1}
