"""A driver that keeps its side of `docs/protocol.md` on real znodes, without Spark."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from kazoo.exceptions import NodeExistsError

from harness.tables import QUERY, shape
from keyroute.core.statistics import PartitionPlacement, Period, QueryStatistics
from keyroute.core.table import RoutingTables
from keyroute.gateway.errors import GatewayUnreachable
from keyroute.gateway.port import Address
from keyroute.v1.reconfiguration_pb2 import (
    ABORT,
    COMMIT,
    MIGRATE,
    PREPARE,
    PROPAGATE,
    PUBLISH,
    Phase,
    Reconfiguration,
)
from keyroute.v1.status_pb2 import ApplicationStatus, QueryStatus
from keyroute.zookeeper.errors import Conflict, StoreUnreachable
from keyroute.zookeeper.payloads import Application, InForce, Live, QueryMeta
from keyroute.zookeeper.session import ABSENT
from keyroute.zookeeper.store import Store

APP = "app-1"


@dataclass
class FakeDriver:
    """One query of one application.

    `deaf` names phases that it does not answer; `refusal` is why it refuses any table.
    `seen` collects the (version, phase) pairs it found, in order. `periods` are its statistics.
    """

    store: Store
    query_id: str = QUERY
    version: int = 0
    hash: str = ""
    batch: int = 0
    refusal: str = ""
    deaf: set[Phase] = field(default_factory=set)
    prepared: dict[int, RoutingTables] = field(default_factory=dict)
    seen: list[tuple[int, Phase]] = field(default_factory=list)
    periods: tuple[Period, ...] = ()

    def poll(self) -> None:
        """Registers anew what is missing, then does one step of its duties."""
        self._register()
        self._act()

    def _act(self) -> None:
        state = self.store.query(self.query_id)
        self._write_in_force(state.in_force)
        stored = state.reconfiguration
        if stored.value is None:
            return
        phase, version = stored.value.phase, stored.value.version
        if not self.seen or self.seen[-1] != (version, phase):
            self.seen.append((version, phase))
        asked = state.wanted is not None and state.wanted.version == version
        if phase in self.deaf:
            return
        if phase == PUBLISH and asked and version != self.version:
            self._prepare(stored.value, stored.znode_version)
        elif phase == PROPAGATE and version in self.prepared:
            self.batch += 1
            self._write(stored.value, stored.znode_version, MIGRATE)
        elif phase == MIGRATE:
            self.version, self.hash = version, stored.value.hash
            self._write_in_force(state.in_force)
            self._write(stored.value, stored.znode_version, COMMIT)

    def run(self, stop: threading.Event) -> None:
        """Polls until `stop`, through outages."""
        while not stop.wait(0.02):
            with suppress(Conflict, StoreUnreachable):
                self.poll()

    @contextmanager
    def running(self) -> Iterator[FakeDriver]:
        """Polls in a thread."""
        stop = threading.Event()
        thread = threading.Thread(target=self.run, args=(stop,))
        thread.start()
        try:
            yield self
        finally:
            stop.set()
            thread.join()

    def _register(self) -> None:
        tree, client = self.store.tree, self.store.tables.session.client
        session = self.store.tables.session
        meta = QueryMeta(self.query_id, "flights", (shape(0), shape(1)))
        if session.read(tree.meta(self.query_id)) is None:
            session.create(tree.meta(self.query_id), meta.encode())
        for path, data in (
            (tree.app(APP), Application(APP, "127.0.0.1", 1).encode()),
            (tree.live(self.query_id), Live(APP, "run-1").encode()),
        ):
            if session.read(path) is None:
                with suppress(NodeExistsError):
                    made = client.create_async(path, data, ephemeral=True, makepath=True)
                    made.get(timeout=5)

    def _prepare(self, value: Reconfiguration, znode_version: int) -> None:
        if self.refusal:
            self._write(value, znode_version, ABORT, self.refusal)
            return
        self.prepared[value.version] = self.store.tables.read(self.query_id, value.version)
        self._write(value, znode_version, PREPARE)

    def _write(
        self, value: Reconfiguration, znode_version: int, phase: Phase, reason: str = ""
    ) -> None:
        moved = Reconfiguration()
        moved.CopyFrom(value)
        moved.phase, moved.reason, moved.by = phase, reason, "run-1"
        moved.batch = self.batch if phase in (MIGRATE, COMMIT) else 0
        self.store.write_reconfiguration(self.query_id, moved, znode_version)

    def _write_in_force(self, there: InForce | None) -> None:
        mine = InForce(self.version, self.hash, self.batch, "run-1")
        if there is not None and there.version == mine.version:
            return
        if there is None and self.version == 0:
            return
        path = self.store.tree.in_force(self.query_id)
        node = self.store.tables.session.read(path)
        version = ABSENT if node is None else node.version
        self.store.tables.session.compare_and_set(path, mine.encode(), version)


@dataclass
class FakeGateways:
    """The gateway of the fake driver, in memory; `away` makes it unreachable."""

    driver: FakeDriver
    away: bool = False

    @contextmanager
    def open(self, address: Address) -> Iterator[FakeGateways]:
        assert address.app_id == APP
        if self.away:
            raise GatewayUnreachable("the gateway is away")
        yield self

    def status(self) -> ApplicationStatus:
        query = QueryStatus(query_id=self.driver.query_id, table_version=self.driver.version)
        return ApplicationStatus(format=1, app_id=APP, queries=[query])

    def statistics(self, query_id: str) -> QueryStatistics | None:
        if query_id != self.driver.query_id:
            return None
        return QueryStatistics(
            query_id=query_id,
            run_id="run-1",
            name="flights",
            periods=self.driver.periods,
            placement=tuple(PartitionPlacement(0, p, f"exec-{p}", "host") for p in range(3)),
            table_version=self.driver.version,
            batch=self.driver.batch,
        )
