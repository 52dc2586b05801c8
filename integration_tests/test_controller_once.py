"""`controller --once` and `--dry-run` on a real ZooKeeper, as functions."""

from __future__ import annotations

import threading

import pytest
from harness.controllers import attendant_of, dies_before_wanted, publish_by_hand, seeded_plan
from harness.fake_driver import FakeDriver
from harness.tables import QUERY
from harness.zookeeper import Stores

from keyroute.controller.attendance import Clock
from keyroute.controller.once import run_once
from keyroute.controller.planning import Planning
from keyroute.core.decision import Decision, Move
from keyroute.core.plan import Planner, PlanRequest
from keyroute.v1.reconfiguration_pb2 import COMMIT
from keyroute.zookeeper.store import Store


def test_once_plans_applies_and_waits_for_the_end(stores: Stores, driver: FakeDriver) -> None:
    with driver.running():
        attendant = attendant_of(stores(), driver)
        (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (report.version, report.committed, report.failed) == (1, True, False)
    assert report.plan is not None
    assert report.plan.predicted_locality == 0.8
    assert driver.version == 1


def test_once_finishes_what_is_under_way_first(stores: Stores, driver: FakeDriver) -> None:
    store = stores()
    dies_before_wanted(store, driver)
    with driver.running():
        attendant = attendant_of(store, driver)
        (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (report.version, report.committed) == (2, True)
    assert [version for version, phase in driver.seen if phase == COMMIT] == [1, 2]


@pytest.mark.parametrize(("faster", "committed"), [(1, True), (9, False)])
def test_once_tries_again_where_another_writer_was_faster_and_fails_in_the_end(
    stores: Stores, driver: FakeDriver, faster: int, committed: bool
) -> None:
    other, asked = stores(), list[int]()

    def decide(planner: Planner, request: PlanRequest, *_: object) -> Decision:
        asked.append(request.current.version)
        if len(asked) <= faster:
            publish_by_hand(other, seed=len(asked))
        return Move(planner(request), "a test's plan")

    attendant = attendant_of(stores(), driver)
    attendant.planning = Planning(seeded_plan, decide=decide)
    with driver.running():
        (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert (report.committed, report.failed) == (committed, not committed)
    assert len(asked) == (2 if committed else 3)
    if not committed:
        assert "another writer was faster, 3 times in a row" in report.sentence


def test_a_dry_run_writes_nothing(store: Store, driver: FakeDriver) -> None:
    attendant = attendant_of(store, driver, dry_run=True)
    (report,) = run_once(attendant, threading.Event(), 20, Clock(), lambda _: None)
    assert report.sentence == "would move: a test's plan"
    assert report.plan is not None
    state = store.query(QUERY)
    assert (state.versions, state.wanted, state.reconfiguration.value) == ((), None, None)
