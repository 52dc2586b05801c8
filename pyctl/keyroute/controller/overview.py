"""What `keyroute status` shows: every query, from ZooKeeper and, where it answers, the driver."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.controller.snapshot import Snapshot, take_snapshot, with_driver
from keyroute.core.statistics import imbalance
from keyroute.core.table import GroupShape
from keyroute.gateway.port import Gateways
from keyroute.v1.reconfiguration_pb2 import Phase
from keyroute.v1.status_pb2 import BatchStatus, OperatorStatus, QueryStatus
from keyroute.zookeeper.errors import UNREADABLE
from keyroute.zookeeper.payloads import Application
from keyroute.zookeeper.predictions import PredictionRecord, Predictions
from keyroute.zookeeper.store import Store

LAST_BATCHES = 10


@dataclass(frozen=True, slots=True)
class GroupOverview:
    """One routing group: which operators, by which columns. Rows go by all of `key_columns`;
    explicit entries of a table are for values of `routing_columns`."""

    group: int
    operators: tuple[int, ...]
    key_columns: tuple[str, ...]
    key_types: tuple[str, ...]
    routing_columns: tuple[str, ...]
    partitions: int


@dataclass(frozen=True, slots=True)
class OperatorOverview:
    """One stateful operator, and why it stays on Spark's hash where it does."""

    operator: int
    name: str
    group: int
    routed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class ChangeOverview:
    """The last reconfiguration."""

    phase: str
    version: int
    batch: int
    reason: str
    by: str
    updated_ms: int
    predicted_locality: float
    predicted_imbalance: float
    predicted_moves: int


@dataclass(frozen=True, slots=True)
class QueryOverview:
    """One query. What only the driver knows is None or empty where `problem` says why.

    `batch` is the last one. `locality` is the share of rows that stayed on their executor, of the
    last batches under the table in force, of which there are `batches_seen`; `imbalance` is
    max/mean of each group's partitions over them. Batches before the switch do not count.
    `locality_error` is the mean distance of predicted from realised locality over `predictions`.
    """

    query_id: str
    name: str
    running: bool
    app_id: str
    run_id: str
    version: int
    since_batch: int
    wanted: int | None
    versions: tuple[int, ...]
    change: ChangeOverview | None
    groups: tuple[GroupOverview, ...]
    operators: tuple[OperatorOverview, ...]
    batch: int | None
    batches_seen: int
    locality: float | None
    imbalance: dict[int, float]
    median_batch_ms: float | None
    waiting: str
    bypass: str
    problem: str
    predictions: tuple[PredictionRecord, ...] = ()
    locality_error: float | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """All that runs or ran below one root; `damaged`: a sentence for each query or application that
    cannot be read."""

    applications: tuple[Application, ...]
    queries: tuple[QueryOverview, ...]
    damaged: tuple[str, ...] = ()


def look(store: Store, gateways: Gateways, *, all_queries: bool = False) -> Overview:
    """The overview; queries that do not run only where `all_queries`.

    Raises StoreError's kinds, but for one query's nodes that are UNREADABLE, which it tells.
    """
    shown: list[tuple[Snapshot, Predictions]] = []
    damaged: list[str] = []
    for query_id in store.query_ids():
        try:
            snapshot = take_snapshot(store, query_id)
        except UNREADABLE as error:
            damaged.append(str(error))
            continue
        if all_queries or snapshot.state.live is not None:
            shown.append((snapshot, _predictions(store, query_id, damaged)))
    return Overview(
        tuple(_applications(store, damaged)),
        tuple(overview_of(with_driver(s, gateways, statistics=False), p) for s, p in shown),
        tuple(damaged),
    )


def _applications(store: Store, damaged: list[str]) -> Iterator[Application]:
    for app_id in store.application_ids():
        try:
            application = store.application(app_id)
        except UNREADABLE as error:
            damaged.append(str(error))
            continue
        if application is not None:
            yield application


def _predictions(store: Store, query_id: str, damaged: list[str]) -> Predictions:
    try:
        return store.predictions(query_id).value
    except UNREADABLE as error:
        damaged.append(str(error))
        return Predictions()


def overview_of(snapshot: Snapshot, predictions: Predictions | None = None) -> QueryOverview:
    """The overview of one query. Pure."""
    state, driver = snapshot.state, snapshot.driver
    status = driver.status if driver is not None else None
    version = state.in_force.version if state.in_force is not None else 0
    known = list(status.batches) if status is not None else []
    batches = [batch for batch in known if batch.table_version == version][-LAST_BATCHES:]
    meta_operators = state.meta.operators if state.meta is not None else ()
    shapes = state.meta.groups if state.meta is not None else ()
    return QueryOverview(
        query_id=state.query_id,
        name=state.meta.name if state.meta is not None else "",
        running=state.live is not None,
        app_id=state.live.app_id if state.live is not None else "",
        run_id=state.live.run_id if state.live is not None else "",
        version=version,
        since_batch=state.in_force.batch if state.in_force is not None else 0,
        wanted=state.wanted.version if state.wanted is not None else None,
        versions=state.versions,
        change=_change(snapshot),
        groups=tuple(_group(shape) for shape in shapes),
        operators=_operators(status.operators if status is not None else meta_operators),
        batch=known[-1].batch if known else None,
        batches_seen=len(batches),
        locality=locality(batches),
        imbalance=group_imbalance(batches, status),
        median_batch_ms=float(np.median([b.duration_ms for b in batches])) if batches else None,
        waiting=status.waiting if status is not None else "",
        bypass=status.bypass if status is not None else "",
        problem=driver.problem if driver is not None else "",
        predictions=predictions.records if predictions is not None else (),
        locality_error=predictions.locality_error if predictions is not None else None,
    )


def locality(batches: Sequence[BatchStatus]) -> float | None:
    """Share of the edges' rows that stayed on their executor; None where there was no edge."""
    rows = sum(batch.edge_rows for batch in batches)
    return sum(batch.local_rows for batch in batches) / rows if rows else None


def group_imbalance(batches: Sequence[BatchStatus], status: QueryStatus | None) -> dict[int, float]:
    """max/mean of each group's partitions over all the batches' rows, by group."""
    if status is None:
        return {}
    totals = {shape.group: np.zeros(shape.partitions, dtype=np.int64) for shape in status.groups}
    for counted in (rows for batch in batches for rows in batch.partition_rows):
        if counted.group in totals and len(counted.rows) == len(totals[counted.group]):
            totals[counted.group] += np.array(counted.rows, dtype=np.int64)
    return {group: imbalance(rows) for group, rows in totals.items() if rows.any()}


def _group(shape: GroupShape) -> GroupOverview:
    return GroupOverview(
        group=shape.group,
        operators=shape.operators,
        key_columns=shape.key_names,
        key_types=shape.key_types,
        routing_columns=tuple(shape.key_names[o] for o in shape.routing_ordinals),
        partitions=shape.partitions,
    )


def _operators(found: Iterable[OperatorStatus]) -> tuple[OperatorOverview, ...]:
    return tuple(OperatorOverview(o.operator, o.name, o.group, o.routed, o.reason) for o in found)


def _change(snapshot: Snapshot) -> ChangeOverview | None:
    value = snapshot.state.reconfiguration.value
    if value is None:
        return None
    return ChangeOverview(
        phase=Phase.Name(value.phase),
        version=value.version,
        batch=value.batch,
        reason=value.reason,
        by=value.by,
        updated_ms=value.updated_ms,
        predicted_locality=value.predicted_locality,
        predicted_imbalance=value.predicted_imbalance,
        predicted_moves=value.predicted_moves,
    )
