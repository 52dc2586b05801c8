"""Controllers in threads of the tests, each with a session of its own, and what they decide."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from harness.eventually import eventually
from harness.fake_driver import FakeDriver, FakeGateways
from harness.tables import QUERY, tables
from harness.zookeeper import Stores
from keyroute.controller.attendance import AttendanceSettings, Attendant
from keyroute.controller.daemon import Daemon
from keyroute.controller.planning import Planning
from keyroute.controller.publish import publish
from keyroute.controller.reconfigure import Context, published
from keyroute.controller.snapshot import take_snapshot
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay
from keyroute.core.plan import Plan, Planner, PlanRequest
from keyroute.v1.reconfiguration_pb2 import Phase
from keyroute.zookeeper.election import Leadership
from keyroute.zookeeper.errors import StoreError
from keyroute.zookeeper.session import ABSENT
from keyroute.zookeeper.store import Store

CONTEXT = Context(by="dead", now_ms=0)


def seeded_plan(request: PlanRequest) -> Plan:
    """A random table that the version in force seeds."""
    planned = tables(1, seed=request.current.version + 1)
    return Plan(planned.groups, (), 0.8, {0: 1.05}, 0.1, planned.entries, "a test's plan")


def always(planner: Planner, request: PlanRequest, _: DecisionSettings, __: int | None) -> Decision:
    plan = planner(request)
    return Move(plan, plan.why)


def never(_: Planner, __: PlanRequest, ___: DecisionSettings, ____: int | None) -> Decision:
    return Stay("a test's wish")


@dataclass
class Controllers:
    """Starts daemons in threads."""

    stores: Stores
    driver: FakeDriver
    stops: list[threading.Event] = field(default_factory=list)

    @contextmanager
    def running(
        self, name: str = "one", decide: object = never, timeout_s: float = 60.0
    ) -> Iterator[threading.Event]:
        store, stop = self.stores(), threading.Event()
        settings = AttendanceSettings(name, interval_s=0.2, prepare_timeout_s=timeout_s)
        attendant = Attendant(
            store,
            FakeGateways(self.driver),
            Planning(seeded_plan, decide=decide),  # type: ignore[arg-type]
            settings,
        )
        client = store.tables.session.client
        daemon = Daemon(attendant, lambda: Leadership(client, store.tree, name), stop, 0.02, 0.02)
        thread = threading.Thread(target=daemon.run)
        thread.start()
        try:
            yield stop
        finally:
            stop.set()
            thread.join(20)
            assert not thread.is_alive(), "the controller does not stop"


@pytest.fixture
def driver(stores: Stores) -> FakeDriver:
    driver = FakeDriver(stores())
    driver.poll()
    return driver


@pytest.fixture
def controllers(stores: Stores, driver: FakeDriver) -> Controllers:
    return Controllers(stores, driver)


def phase_of(store: Store) -> tuple[int, Phase] | None:
    """Version and phase of the change."""
    value = store.query(QUERY).reconfiguration.value
    return None if value is None else (value.version, value.phase)


def reaches(store: Store, version: int, phase: Phase) -> None:
    """Waits, through outages, until the change to `version` is in `phase`."""

    def check() -> bool:
        try:
            return phase_of(store) == (version, phase)
        except StoreError:
            return False

    eventually(20, f"version {version} reaches {Phase.Name(phase)}", check)


def publish_by_hand(store: Store, seed: int = 0) -> int:
    """What a controller that dies then has published; the version."""
    snapshot = take_snapshot(store, QUERY)
    return publish(store, snapshot, lambda version: tables(version, seed=seed), CONTEXT)


def attendant_of(store: Store, driver: FakeDriver, **settings: object) -> Attendant:
    """One that always moves, without a daemon."""
    return Attendant(
        store,
        FakeGateways(driver),
        Planning(seeded_plan, decide=always),
        AttendanceSettings("once", **settings),  # type: ignore[arg-type]
    )


def dies_before_wanted(store: Store, _: FakeDriver) -> int:
    """A controller that wrote PUBLISH and died; the version."""
    meta = store.tables.write(tables(1), by="dead", now_ms=0)
    store.write_reconfiguration(QUERY, published(1, meta.hash, CONTEXT), ABSENT)
    return 1
