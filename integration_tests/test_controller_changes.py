"""A controller changes tables on a real ZooKeeper: to the end, to an abort, one at a time.

The driver keeps its side of the protocol and runs no Spark.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from harness.controllers import (
    CONTEXT,
    Controllers,
    always,
    attendant_of,
    publish_by_hand,
    reaches,
    seeded_plan,
)
from harness.fake_driver import FakeDriver
from harness.tables import QUERY, tables
from harness.zookeeper import Stores

from keyroute.controller.attendance import Clock
from keyroute.controller.carry import Carrier
from keyroute.controller.daemon import Daemon
from keyroute.controller.planning import Planning
from keyroute.controller.publish import ChangeUnderWay, publish
from keyroute.controller.snapshot import take_snapshot
from keyroute.core.decision import DecisionSettings, Stay
from keyroute.core.plan import Plan, Planner, PlanRequest
from keyroute.v1.reconfiguration_pb2 import (
    ABORT,
    COMMIT,
    PROPAGATE,
    PUBLISH,
    Reconfiguration,
)
from keyroute.zookeeper.errors import Conflict
from keyroute.zookeeper.payloads import Wanted
from keyroute.zookeeper.session import ABSENT
from keyroute.zookeeper.store import Store


def test_plans_become_tables_in_force_one_after_another(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    with driver.running(), controllers.running(decide=always):
        reaches(store, 2, COMMIT)
    ours = [step for step in driver.seen if step[0] == 1]
    assert [phase for _, phase in ours][-1] == COMMIT
    in_force = store.query(QUERY).in_force
    assert in_force is not None
    assert in_force.version >= 2
    assert store.tables.read(QUERY, 2).groups == tables(1, seed=2).groups
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert (value.predicted_locality, value.predicted_imbalance) == (0.8, 1.05)


def test_a_driver_that_does_not_acknowledge_leads_to_abort(
    store: Store, driver: FakeDriver, controllers: Controllers
) -> None:
    driver.deaf = {PUBLISH}
    version = publish_by_hand(store)
    with driver.running(), controllers.running(timeout_s=0.3):
        reaches(store, version, ABORT)
    value = store.query(QUERY).reconfiguration.value
    assert value is not None
    assert "did not acknowledge" in value.reason
    assert driver.version == 0


def test_a_refused_table_ends_in_abort_with_the_drivers_reason(
    stores: Stores, driver: FakeDriver
) -> None:
    store, driver.refusal = stores(), "wrong shape"
    version = publish_by_hand(store)
    with driver.running():
        outcome = Carrier(store, "cli", threading.Event()).carry(QUERY, version, timeout_s=10)
    assert outcome.phase == ABORT
    assert not outcome.committed
    assert "wrong shape" in outcome.sentence


def test_a_change_is_carried_without_a_daemon(stores: Stores, driver: FakeDriver) -> None:
    store, said = stores(), list[str]()
    version = publish_by_hand(store)
    with driver.running():
        carrier = Carrier(store, "cli", threading.Event(), tell=said.append)
        outcome = carrier.carry(QUERY, version, timeout_s=10)
    assert outcome.committed
    assert outcome.batch == 1
    assert any("prepared" in sentence for sentence in said)


def test_the_wait_for_an_end_is_bounded(stores: Stores, driver: FakeDriver) -> None:
    store, driver.deaf = stores(), {PROPAGATE}
    version = publish_by_hand(store)
    with driver.running():
        outcome = Carrier(store, "cli", threading.Event()).carry(QUERY, version, timeout_s=0.5)
    assert not outcome.ended


def test_only_one_change_at_a_time(store: Store, driver: FakeDriver) -> None:
    before = take_snapshot(store, QUERY)
    publish_by_hand(store)
    with pytest.raises(ChangeUnderWay, match="PUBLISH"):
        publish_by_hand(store)
    # A controller that read before the other wrote loses, and leaves an unused version.
    with pytest.raises(Conflict):
        publish(store, before, lambda version: tables(version, seed=9), CONTEXT)
    assert store.query(QUERY).wanted == Wanted(1, store.tables.list(QUERY)[0].hash)
    assert driver.version == 0


@dataclass
class Hands:
    """A clock that is set by hand."""

    now_s: float = 1_000.0

    def clock(self) -> Clock:
        return Clock(lambda: self.now_s, lambda: int(self.now_s * 1000))


def test_after_an_abort_the_next_plan_waits_longer(store: Store, driver: FakeDriver) -> None:
    hands, driver.refusal = Hands(), "wrong shape"
    attendant = attendant_of(store, driver, interval_s=10.0)
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


@pytest.mark.parametrize("ahead_s", [-3600, 3600])
def test_a_change_is_timed_by_the_controllers_own_clock(
    store: Store, driver: FakeDriver, ahead_s: int
) -> None:
    hands, asked = Hands(1e6), list[int | None]()

    def decide(_: Planner, __: PlanRequest, ___: DecisionSettings, since_ms: int | None) -> Stay:
        asked.append(since_ms)
        return Stay("enough")

    attendant = attendant_of(store, driver, interval_s=10.0)
    attendant.planning, attendant.clock = Planning(seeded_plan, decide=decide), hands.clock()
    for seen in (ABSENT, 0):
        value = Reconfiguration(format=1, phase=COMMIT, version=1, batch=seen + 1)
        value.updated_ms = int((hands.now_s + ahead_s) * 1000)
        store.write_reconfiguration(QUERY, value, seen)
        attendant.attend(QUERY, plan_now=True)
        hands.now_s += 4
        attendant.attend(QUERY, plan_now=True)
    # What was there at first sight may be as old as its time tells; the next is seen to be new.
    assert asked == [3_600_000, 3_604_000, 0, 4_000]


def test_that_a_query_went_away_is_said_once(store: Store, driver: FakeDriver) -> None:
    attendant = attendant_of(store, driver)
    assert attendant.attend(QUERY) is not None
    store.tables.session.client.delete(store.tree.live(QUERY))
    gone = attendant.attend(QUERY)
    assert gone is not None
    assert (gone.label, gone.sentence) == ("flights", "does not run any more")
    assert attendant.attend(QUERY) is None


def test_a_fault_in_a_tick_is_logged_and_the_daemon_goes_on(
    stores: Stores, driver: FakeDriver, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: PlanRequest) -> Plan:
        raise ZeroDivisionError(request.query_id)

    attendant = attendant_of(stores(), driver, interval_s=0.0)
    attendant.planning = Planning(broken, decide=always)
    daemon = Daemon(attendant, lambda: pytest.fail("no turn is needed"), threading.Event())
    assert not daemon.tick()
    assert not daemon.tick()
    assert caplog.text.count("this tick failed; the query goes on with its tables") == 2
