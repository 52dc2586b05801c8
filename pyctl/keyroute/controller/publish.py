"""Starts a change: writes the tables as the next version, then the reconfiguration, then `wanted`.

A controller that dies in between leaves what another can go on from, or a version nobody uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from keyroute.controller.reconfigure import (
    ENDED,
    Action,
    Context,
    Free,
    Wait,
    WritePhase,
    WriteWanted,
    published,
)
from keyroute.controller.snapshot import Snapshot
from keyroute.core.table import RoutingTables
from keyroute.core.table_codec import content_hash, encode
from keyroute.v1.reconfiguration_pb2 import Phase
from keyroute.zookeeper.errors import Conflict, VersionTaken
from keyroute.zookeeper.payloads import Wanted
from keyroute.zookeeper.store import Store

_ATTEMPTS_AT_A_NUMBER = 5


class ChangeUnderWay(Exception):
    """Another change of the query has not ended yet; the text says which."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the change was decided by, kept with it. Shares, ratios, keys."""

    locality: float = 0.0
    imbalance: float = 0.0
    moves: int = 0


def publish(
    store: Store,
    snapshot: Snapshot,
    build: Callable[[int], RoutingTables],
    context: Context,
    prediction: Prediction | None = None,
) -> int:
    """Publishes `build(version)` and asks the driver for it; the version.

    Raises ChangeUnderWay, Conflict where another controller was faster, StoreError's kinds.
    """
    state = snapshot.state
    running = state.reconfiguration.value
    if running is not None and running.phase not in ENDED:
        raise ChangeUnderWay(
            f"The change to version {running.version} is under way "
            f"({Phase.Name(running.phase)}): a running controller, or `keyroute controller "
            "--once`, finishes it."
        )
    version, written = _write(store, snapshot, build, context)
    value = published(version, written, context)
    expected = prediction or Prediction()
    value.predicted_locality = expected.locality
    value.predicted_imbalance = expected.imbalance
    value.predicted_moves = expected.moves
    store.write_reconfiguration(state.query_id, value, state.reconfiguration.znode_version)
    store.write_wanted(state.query_id, Wanted(version, written))
    return version


def under_way(snapshot: Snapshot, build: Callable[[int], RoutingTables]) -> int:
    """The version whose change is under way, where its tables are the ones that `build` makes;
    else 0."""
    running = snapshot.state.reconfiguration.value
    if running is None or running.phase in ENDED:
        return 0
    asked = content_hash(encode(build(running.version)))
    return running.version if asked == running.hash else 0


def perform(store: Store, query_id: str, action: Action) -> None:
    """Does what `step` said. Raises Conflict, StoreError's kinds."""
    match action:
        case Free() | Wait():
            return
        case WriteWanted(wanted, _):
            store.write_wanted(query_id, wanted)
        case WritePhase(value, znode_version, _):
            store.write_reconfiguration(query_id, value, znode_version)


def _write(
    store: Store, snapshot: Snapshot, build: Callable[[int], RoutingTables], context: Context
) -> tuple[int, str]:
    version = snapshot.state.next_version(snapshot.drivers_own_version)
    for number in range(version, version + _ATTEMPTS_AT_A_NUMBER):
        try:
            meta = store.tables.write(build(number), by=context.by, now_ms=context.now_ms)
        except VersionTaken:
            continue
        return number, meta.hash
    raise Conflict("Others are publishing versions of this query: try again.")
