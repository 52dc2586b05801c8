"""Predictions are kept beside what came true, on a real ZooKeeper, and outlive their controller."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from harness.controllers import attendant_of, publish_by_hand
from harness.fake_driver import FakeDriver, FakeGateways
from harness.tables import QUERY, shape
from harness.zookeeper import Stores

from keyroute.controller.attendance import Attendant
from keyroute.controller.overview import look
from keyroute.controller.planning import Planning
from keyroute.core.decision import Stay
from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
)
from keyroute.zookeeper.connection import Credentials
from keyroute.zookeeper.errors import StoreForbidden
from keyroute.zookeeper.store import Store

NONE = np.empty(0, np.int64)


def _period(version: int, rows: int, local: int) -> Period:
    keys, pairs = KeyCounts(0, NONE, NONE, NONE), PairCounts(0, NONE, NONE, NONE, NONE)
    loads = np.array([rows // 2, rows // 4, rows // 4])
    groups = tuple(GroupStatistics(shape(g), rows, NONE, loads, 0, keys) for g in (0, 1))
    return Period(0, 0, version, rows, groups, (EdgeStatistics(0, 1, rows, local, pairs),))


def _commit(driver: FakeDriver, attendant: Attendant, version: int) -> None:
    """The attendant publishes, and the driver switches."""
    report = attendant.attend(QUERY)
    assert report is not None
    assert report.published == version
    _carry(driver, attendant, version)


def _carry(driver: FakeDriver, attendant: Attendant, version: int) -> None:
    for _ in range(6):
        driver.poll()
        if driver.version == version:
            break
        attendant.attend(QUERY)
    assert driver.version == version
    driver.poll()


def _stays(store: Store, driver: FakeDriver) -> Attendant:
    attendant = attendant_of(store, driver, interval_s=0.0)
    attendant.planning = Planning(attendant.planning.planner, decide=lambda *_: Stay("enough"))
    return attendant


def _said(attendant: Attendant) -> str:
    report = attendant.attend(QUERY, plan_now=True)
    assert report is not None
    return report.sentence


def test_what_came_true_is_kept_beside_the_prediction(store: Store, driver: FakeDriver) -> None:
    _commit(driver, attendant_of(store, driver, interval_s=0.0), 1)
    attendant = _stays(store, driver)
    before, first = _period(0, 90_000, 10_000), _period(1, 15_000, 12_000)
    # The newest may be open, and 20,000 rows are needed.
    for periods in ((before,), (before, first, first), (before, first, _period(1, 9, 9))):
        driver.periods = periods
        assert _said(attendant) == "stays: enough"
    assert store.predictions(QUERY).value.records == ()
    driver.periods = (before, first, _period(1, 10_000, 7_000), _period(1, 50_000, 0))
    assert _said(attendant) == (
        "stays: enough; version 1: predicted 80.0% local and imbalance 1.05, realised 76.0% and "
        "1.50 on the next 25,000 rows"
    )
    (record,) = store.predictions(QUERY).value.records
    assert (record.version, record.rows, record.moves) == (1, 25_000, 4)
    assert record.locality_error == pytest.approx(0.04)

    # Another controller, as after a restart, knows it and says nothing.
    assert _said(_stays(store, driver)) == "stays: enough"
    (query,) = look(store, FakeGateways(driver)).queries
    assert query.locality_error == pytest.approx(0.04)
    assert asdict(query)["predictions"] == (asdict(record),)


def test_tables_by_hand_and_dry_runs_predict_nothing(store: Store, driver: FakeDriver) -> None:
    publish_by_hand(store)
    _carry(driver, attendant_of(store, driver, interval_s=0.0), 1)
    driver.periods = (_period(1, 30_000, 0), _period(1, 1, 0))
    assert _said(_stays(store, driver)) == "stays: enough"
    attendant = attendant_of(store, driver, interval_s=0.0)
    attendant.attend(QUERY, plan_now=True)
    _carry(driver, attendant, 2)
    driver.periods = (_period(2, 30_000, 0), _period(2, 1, 0))
    dry = attendant_of(store, driver, interval_s=0.0, dry_run=True)
    assert _said(dry) == "would move: a test's plan"
    assert store.predictions(QUERY).value.records == ()


def test_a_damaged_node_stops_nothing_and_is_told(store: Store, driver: FakeDriver) -> None:
    _commit(driver, attendant_of(store, driver, interval_s=0.0), 1)
    path = store.tree.predictions(QUERY)
    store.tables.session.create(path, b"[]")
    said = _said(_stays(store, driver))
    assert said.startswith(f"stays: enough; predictions are not compared: The znode {path} is")
    overview = look(store, FakeGateways(driver))
    assert [query.predictions for query in overview.queries] == [()]
    assert [path in sentence for sentence in overview.damaged] == [True]


def test_predictions_are_the_owners_alone(stores: Stores) -> None:
    owner = stores(Credentials("keyroute", "secret"))
    stored = owner.predictions(QUERY)
    owner.write_predictions(QUERY, stored.value, stored.znode_version)
    with pytest.raises(StoreForbidden):
        stores().predictions(QUERY)
