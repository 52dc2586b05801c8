"""A change of a query's tables by hand: the controller's part of the protocol, step by step."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from harness.eventually import eventually
from harness.random_tables import random_tables
from keyroute.controller.carry import Carrier, Outcome
from keyroute.controller.publish import publish
from keyroute.controller.reconfigure import Context
from keyroute.controller.snapshot import Snapshot, take_snapshot
from keyroute.core.table import RoutingTables, no_tables
from keyroute.v1.reconfiguration_pb2 import MIGRATE, PROPAGATE
from keyroute.zookeeper.store import Store

BY = "test"
_SEEN_S = 60.0
_DRIVER_SEES_S = 0.3


def registered(store: Store, query_id: str) -> Snapshot:
    """The query's nodes, once the driver has written what its groups are."""

    def look() -> Snapshot | None:
        snapshot = take_snapshot(store, query_id)
        return snapshot if snapshot.state.meta and snapshot.state.live else None

    return eventually(_SEEN_S, "the query is in ZooKeeper", look)


def publish_random(
    store: Store, query_id: str, inputs: Sequence[Sequence[dict[str, Any]]], seed: int | None
) -> int:
    """Publishes a random table (None: the empty one); the version."""
    snapshot = registered(store, query_id)
    meta = snapshot.state.meta
    assert meta is not None

    def build(version: int) -> RoutingTables:
        if seed is None:
            return RoutingTables(version, query_id, no_tables(query_id).groups)
        return random_tables(version, query_id, meta.groups, inputs, seed)

    return publish_tables(store, snapshot, build)


def publish_tables(store: Store, snapshot: Snapshot, build: Any) -> int:
    """Publishes what `build` makes of the version's number; the version."""
    return publish(store, snapshot, build, Context(BY, 0, 0.0, 60.0))


def carry(store: Store, query_id: str, version: int, seconds: float) -> Outcome:
    """Does the controller's steps for so long at most."""
    return Carrier(store, BY, threading.Event()).carry(query_id, version, seconds)


def propagate(store: Store, query_id: str, version: int) -> Outcome:
    """Carries the change to where the driver is to switch at its next batch, or to its end."""

    def told() -> Outcome | None:
        outcome = carry(store, query_id, version, 0.0)
        return outcome if outcome.ended or outcome.phase in (PROPAGATE, MIGRATE) else None

    outcome = eventually(_SEEN_S, "the driver is told to switch", told)
    # The driver's watch needs a moment; where it needs more, a batch later will do.
    return outcome if outcome.ended else carry(store, query_id, version, _DRIVER_SEES_S)
