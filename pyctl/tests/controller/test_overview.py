"""Figures of `keyroute status`: locality and imbalance add up over batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyroute.controller.overview import overview_of
from keyroute.controller.snapshot import DriverView, Snapshot
from keyroute.v1.status_pb2 import BatchStatus, OperatorStatus, PartitionRows, QueryStatus
from keyroute.v1.table_pb2 import GroupShape
from keyroute.zookeeper.payloads import InForce, Live, QueryMeta
from keyroute.zookeeper.store import QueryState, StoredReconfiguration

OPERATOR = OperatorStatus(operator=3, name="join", group=3, reason="stream-stream join")
STATE = QueryState(
    query_id="q",
    meta=QueryMeta("q", "flights", (), (OPERATOR,)),
    live=Live("app-1", "run"),
    wanted=None,
    in_force=InForce(2, "h", 7),
    reconfiguration=StoredReconfiguration(None),
    versions=(1, 2),
)


def _batch(number: int, local: int, rows: list[int]) -> BatchStatus:
    return BatchStatus(
        batch=number,
        duration_ms=number * 100,
        edge_rows=sum(rows),
        local_rows=local,
        partition_rows=[PartitionRows(group=0, rows=rows)],
    )


def test_the_last_batches_are_added_up() -> None:
    batches = [_batch(1, 10, [10, 0, 0])] * 5
    batches += [_batch(n, 30, [10, 20, 30] if n % 2 else [30, 20, 10]) for n in range(2, 12)]
    status = QueryStatus(
        query_id="q", batches=batches, groups=[GroupShape(group=0, partitions=3)], waiting="soon"
    )
    seen = overview_of(Snapshot(STATE, None, DriverView(status)))
    assert seen.locality == pytest.approx(0.5)
    assert seen.imbalance == {0: pytest.approx(1.0)}
    assert (seen.batch, seen.batches_seen, seen.median_batch_ms) == (11, 10, 650)
    assert (seen.version, seen.since_batch, seen.waiting) == (2, 7, "soon")


def test_without_the_driver_zookeepers_part_is_shown() -> None:
    seen = overview_of(Snapshot(STATE, None, DriverView(problem="no token")))
    assert (seen.problem, seen.version, seen.locality, seen.imbalance) == ("no token", 2, None, {})
    assert [(o.operator, o.routed, o.reason) for o in seen.operators] == [
        (3, False, "stream-stream join")
    ]


def test_a_query_that_does_not_run_is_shown_as_such() -> None:
    seen = overview_of(Snapshot(replace(STATE, live=None, in_force=None)))
    assert (seen.running, seen.version, seen.app_id) == (False, 0, "")
