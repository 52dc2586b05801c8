"""The controller on a real ZooKeeper, against a driver that keeps its side of the protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from harness.commands import at, started
from harness.eventually import eventually
from harness.fake_driver import FakeDriver, FakeGateways
from harness.tables import QUERY, tables
from harness.zookeeper import TICK_MS, Stores

from keyroute.controller.attendance import AttendanceSettings, Attendant, Clock
from keyroute.controller.carry import Carrier
from keyroute.controller.daemon import Daemon
from keyroute.controller.once import run_once
from keyroute.controller.planning import Planning
from keyroute.controller.publish import ChangeUnderWay, publish
from keyroute.controller.reconfigure import Context, published
from keyroute.controller.snapshot import take_snapshot
from keyroute.core.decision import Decision, DecisionSettings, Move, Stay
from keyroute.core.plan import Plan, Planner, PlanRequest
from keyroute.v1.reconfiguration_pb2 import (
    ABORT,
    COMMIT,
    MIGRATE,
    PREPARE,
    PROPAGATE,
    PUBLISH,
    Phase,
)
from keyroute.zookeeper.connection import close, connect
from keyroute.zookeeper.election import Leadership
from keyroute.zookeeper.errors import Conflict, StoreError
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.payloads import Wanted
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import ABSENT
from keyroute.zookeeper.store import Store

CONTEXT = Context(by="dead", now_ms=0)


def _plan(request: PlanRequest) -> Plan:
    planned = tables(1, seed=request.current.version + 1)
    return Plan(planned.groups, (), 0.8, {0: 1.05}, 0.1, planned.entries, "a test's plan")


def _always(
    planner: Planner, request: PlanRequest, _: DecisionSettings, __: int | None
) -> Decision:
    plan = planner(request)
    return Move(plan, plan.why)


def _never(_: Planner, __: PlanRequest, ___: DecisionSettings, ____: int | None) -> Decision:
    return Stay("a test's wish")


@dataclass
class Controllers:
    """Starts daemons in threads, each with a session of its own."""

    stores: Stores
    driver: FakeDriver
    stops: list[threading.Event] = field(default_factory=list)

    @contextmanager
    def running(
        self, name: str = "one", decide: object = _never, timeout_s: float = 60.0
    ) -> Iterator[threading.Event]:
        store, stop = self.stores(), threading.Event()
        settings = AttendanceSettings(name, interval_s=0.2, prepare_timeout_s=timeout_s)
        attendant = Attendant(
            store,
            FakeGateways(self.driver),
            Planning(_plan, decide=decide),  # type: ignore[arg-type]
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


def _phase(store: Store) -> tuple[int, Phase] | None:
    value = store.query(QUERY).reconfiguration.value
    return None if value is None else (value.version, value.phase)


def _reaches(store: Store, version: int, phase: Phase) -> None:
    def check() -> bool:
        try:
            return _phase(store) == (version, phase)
        except StoreError:
            return False

    eventually(20, f"version {version} reaches {Phase.Name(phase)}", check)


def _publish(store: Store, seed: int = 0) -> int:
    snapshot = take_snapshot(store, QUERY)
    return publish(store, snapshot, lambda version: tables(version, seed=seed), CONTEXT)


def test_plans_become_tables_in_force_one_after_another(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    with driver.running(), controllers.running(decide=_always):
        _reaches(store, 2, COMMIT)
    ours = [step for step in driver.seen if step[0] == 1]
    assert [phase for _, phase in ours][-1] == COMMIT
    in_force = store.query(QUERY).in_force
    assert in_force is not None
    assert in_force.version >= 2
    assert store.tables.read(QUERY, 2).groups == tables(1, seed=2).groups
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert (value.predicted_locality, value.predicted_imbalance) == (0.8, 1.05)


def _dies_before_reconfiguration(store: Store, _: FakeDriver) -> int:
    store.tables.write(tables(1), by="dead", now_ms=0)
    return 1


def _dies_before_wanted(store: Store, _: FakeDriver) -> int:
    meta = store.tables.write(tables(1), by="dead", now_ms=0)
    store.write_reconfiguration(QUERY, published(1, meta.hash, CONTEXT), ABSENT)
    return 1


def _dies_before_propagate(store: Store, driver: FakeDriver) -> int:
    version = _publish(store)
    driver.poll()
    assert _phase(store) == (version, PREPARE)
    return version


def _dies_in(phase: Phase) -> Callable[[Store, FakeDriver], int]:
    def die(store: Store, driver: FakeDriver) -> int:
        version = _publish(store)
        driver.poll()
        state = store.query(QUERY)
        assert state.reconfiguration.value is not None
        state.reconfiguration.value.phase = PROPAGATE
        store.write_reconfiguration(
            QUERY, state.reconfiguration.value, state.reconfiguration.znode_version
        )
        if phase == MIGRATE:
            driver.poll()
        assert _phase(store) == (version, phase)
        return version

    return die


@pytest.mark.parametrize(
    "dies",
    [_dies_before_wanted, _dies_before_propagate, _dies_in(PROPAGATE), _dies_in(MIGRATE)],
    ids=["publish", "prepare", "propagate", "migrate"],
)
def test_another_controller_finishes_what_one_began(
    store: Store,
    driver: FakeDriver,
    controllers: Controllers,
    dies: Callable[[Store, FakeDriver], int],
) -> None:
    version = dies(store, driver)
    with driver.running(), controllers.running("another"):
        _reaches(store, version, COMMIT)
    assert driver.version == version == 1


def test_a_version_that_nobody_asked_for_stays_unused(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    _dies_before_reconfiguration(store, driver)
    with driver.running(), controllers.running("another", decide=_always):
        _reaches(store, 2, COMMIT)
    assert (1, PUBLISH) not in driver.seen


def test_a_killed_controller_is_followed_by_the_one_that_waits(
    store: Store,
    zookeeper: ZooKeeperServer,
    driver: FakeDriver,
    controllers: Controllers,
    tmp_path: Path,
) -> None:
    observer = Leadership(store.tables.session.client, store.tree, "observer")
    log = tmp_path / "controller.log"
    with started(log, "controller", "--planner", "hash", *at(zookeeper, store.tree)) as first:
        eventually(20, "the first works", lambda: "this controller's turn: " in log.read_text())
        with driver.running(), controllers.running("heir"):
            eventually(10, "the heir waits", lambda: observer.contenders()[1:] == ("heir",))
            first.kill()
            first.wait()
            version = _publish(store)
            _reaches(store, version, COMMIT)
    assert observer.contenders() == ()
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert value.version == version


def test_while_waiting_for_its_turn_a_controller_can_be_stopped(
    stores: Stores, controllers: Controllers
) -> None:
    holder = stores()
    turn = Leadership(holder.tables.session.client, holder.tree, "holder")
    assert turn.acquire(threading.Event())
    with controllers.running("second"):
        eventually(10, "the second waits", lambda: len(turn.contenders()) == 2)
    assert turn.contenders() == ("holder",)
    late = Leadership(holder.tables.session.client, holder.tree, "late")
    assert not late.acquire(threading.Event(), timeout_s=0.3)
    turn.release()
    assert turn.contenders() == ()
    last = Leadership(holder.tables.session.client, holder.tree, "last")
    assert last.acquire(threading.Event(), timeout_s=10)
    assert last.held
    assert not turn.held


def test_a_turn_is_not_lost_with_the_connection_alone(tree: Tree) -> None:
    with ZooKeeperServer(tick_ms=TICK_MS) as own:
        client = connect(own.connect_string)
        turn = Leadership(client, tree, "holder")
        assert turn.acquire(threading.Event())
        assert not turn.suspended
        own.stop()
        eventually(10, "the connection is away", lambda: turn.suspended)
        assert turn.held
        turn.release()
        assert not turn.held
        close(client)


def test_a_driver_that_does_not_acknowledge_leads_to_abort(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    driver.deaf = {PUBLISH}
    version = _publish(store)
    with driver.running(), controllers.running(timeout_s=0.3):
        _reaches(store, version, ABORT)
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert "did not acknowledge" in value.reason
    assert driver.version == 0


def test_a_refused_table_ends_in_abort_with_the_drivers_reason(
    stores: Stores, driver: FakeDriver
) -> None:
    store, driver.refusal = stores(), "wrong shape"
    version = _publish(store)
    with driver.running():
        outcome = Carrier(store, "cli", threading.Event()).carry(QUERY, version, timeout_s=10)
    assert outcome.phase == ABORT
    assert not outcome.committed
    assert "wrong shape" in outcome.sentence


def test_a_change_is_carried_without_a_daemon(stores: Stores, driver: FakeDriver) -> None:
    store, said = stores(), list[str]()
    version = _publish(store)
    with driver.running():
        carrier = Carrier(store, "cli", threading.Event(), tell=said.append)
        outcome = carrier.carry(QUERY, version, timeout_s=10)
    assert outcome.committed
    assert outcome.batch == 1
    assert any("prepared" in sentence for sentence in said)


def test_the_wait_for_an_end_is_bounded(stores: Stores, driver: FakeDriver) -> None:
    store, driver.deaf = stores(), {PROPAGATE}
    version = _publish(store)
    with driver.running():
        outcome = Carrier(store, "cli", threading.Event()).carry(QUERY, version, timeout_s=0.5)
    assert not outcome.ended


def test_only_one_change_at_a_time(store: Store, driver: FakeDriver) -> None:
    before = take_snapshot(store, QUERY)
    _publish(store)
    with pytest.raises(ChangeUnderWay, match="PUBLISH"):
        _publish(store)
    # A controller that read before the other wrote loses, and leaves an unused version.
    with pytest.raises(Conflict):
        publish(store, before, lambda version: tables(version, seed=9), CONTEXT)
    assert store.query(QUERY).wanted == Wanted(1, store.tables.list(QUERY)[0].hash)
    assert driver.version == 0


def test_a_restart_of_zookeeper_is_ridden_out(
    store: Store, driver: FakeDriver, controllers: Controllers, zookeeper: ZooKeeperServer
) -> None:
    with driver.running(), controllers.running(decide=_always):
        _reaches(store, 1, COMMIT)
        zookeeper.stop()
        zookeeper.start()
        last = driver.version
        eventually(30, "changes go on after the restart", lambda: driver.version > last)


def test_an_emptied_zookeeper_does_no_harm(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    driver.version, driver.hash = 41, "in the checkpoint"
    with driver.running():
        store.tables.session.delete_tree(store.tree.queries)
        with controllers.running(decide=_always):
            _reaches(store, 42, COMMIT)
    assert driver.version >= 42


def _attendant(store: Store, driver: FakeDriver, **settings: object) -> Attendant:
    return Attendant(
        store,
        FakeGateways(driver),
        Planning(_plan, decide=_always),
        AttendanceSettings("once", **settings),  # type: ignore[arg-type]
    )


def test_once_plans_applies_and_waits_for_the_end(stores: Stores, driver: FakeDriver) -> None:
    with driver.running():
        attendant = _attendant(stores(), driver)
        (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (report.version, report.committed, report.failed) == (1, True, False)
    assert report.plan is not None
    assert report.plan.predicted_locality == 0.8
    assert driver.version == 1


def test_once_finishes_what_is_under_way_first(stores: Stores, driver: FakeDriver) -> None:
    store = stores()
    _dies_before_wanted(store, driver)
    with driver.running():
        attendant = _attendant(store, driver)
        (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (report.version, report.committed) == (2, True)
    assert [version for version, phase in driver.seen if phase == COMMIT] == [1, 2]


def test_a_dry_run_writes_nothing(store: Store, driver: FakeDriver) -> None:
    attendant = _attendant(store, driver, dry_run=True)
    (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert report.sentence == "would move: a test's plan"
    assert report.plan is not None
    state = store.query(QUERY)
    assert (state.versions, state.wanted, state.reconfiguration.value) == ((), None, None)


@dataclass
class Hands:
    """A clock that is set by hand."""

    now_s: float = 1_000.0

    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, lambda: int(self.now_s * 1000))


def test_after_an_abort_the_next_plan_waits_longer(store: Store, driver: FakeDriver) -> None:
    hands, driver.refusal = Hands(), "wrong shape"
    attendant = _attendant(store, driver, interval_s=10.0)
    attendant.clock = hands.clock()
    for version, intervals in ((1, 2), (2, 4)):
        report = attendant.attend(QUERY)
        assert report is not None
        assert report.published == version
        driver.poll()
        ended = attendant.attend(QUERY)
        assert ended is not None
        assert "wrong shape" in ended.sentence
        hands.now_s += 10.0 * intervals - 1
        assert attendant.attend(QUERY) is None
        hands.now_s += 1


def test_a_fault_in_a_tick_is_logged_and_the_daemon_goes_on(
    stores: Stores, driver: FakeDriver, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: PlanRequest) -> Plan:
        raise ZeroDivisionError(request.query_id)

    attendant = _attendant(stores(), driver, interval_s=0.0)
    attendant.planning = Planning(broken, decide=_always)
    daemon = Daemon(attendant, lambda: pytest.fail("no turn is needed"), threading.Event())
    assert not daemon.tick()
    assert not daemon.tick()
    assert caplog.text.count("this tick failed; the query goes on with its tables") == 2
