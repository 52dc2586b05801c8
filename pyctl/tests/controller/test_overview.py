"""Figures of `keyroute status`: locality and imbalance add up over batches."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keyroute.controller.overview import overview_of
from keyroute.controller.snapshot import DriverView, Snapshot
from keyroute.core.table import GroupShape
from keyroute.v1.status_pb2 import BatchStatus, OperatorStatus, PartitionRows, QueryStatus
from keyroute.v1.table_pb2 import GroupShape as GroupShapeMessage
from keyroute.zookeeper.payloads import InForce, Live, QueryMeta
from keyroute.zookeeper.store import QueryState, StoredReconfiguration

OPERATOR = OperatorStatus(operator=3, name="join", group=3, reason="stream-stream join")
SHAPE = GroupShape(0, (0, 1), 3, 1026, (1,), ("window", "k"), ("struct<>", "string"))
STATE = QueryState(
    query_id="q",
    meta=QueryMeta("q", "flights", (SHAPE,), (OPERATOR,)),
    live=Live("app-1", "run"),
    wanted=None,
    in_force=InForce(2, "h", 7),
    reconfiguration=StoredReconfiguration(None),
    versions=(1, 2),
)


def _batch(number: int, local: int, rows: list[int], version: int = 2) -> BatchStatus:
    return BatchStatus(
        batch=number,
        table_version=version,
        duration_ms=number * 100,
        edge_rows=sum(rows),
        local_rows=local,
        partition_rows=[PartitionRows(group=0, rows=rows)],
    )


def test_the_last_batches_are_added_up() -> None:
    batches = [_batch(1, 10, [10, 0, 0])] * 5
    batches += [_batch(n, 30, [10, 20, 30] if n % 2 else [30, 20, 10]) for n in range(2, 12)]
    status = QueryStatus(
        query_id="q",
        batches=batches,
        groups=[GroupShapeMessage(group=0, partitions=3)],
        waiting="soon",
    )
    seen = overview_of(Snapshot(STATE, None, DriverView(status)))
    assert seen.locality == pytest.approx(0.5)
    assert seen.imbalance == {0: pytest.approx(1.0)}
    assert (seen.batch, seen.batches_seen, seen.median_batch_ms) == (11, 10, 650)
    assert (seen.version, seen.since_batch, seen.waiting) == (2, 7, "soon")


def test_only_batches_under_the_table_in_force_count() -> None:
    batches = [_batch(n, 0, [30, 0, 0], version=1) for n in range(5, 8)]
    batches += [_batch(n, 30, [10, 10, 10]) for n in (8, 9)]
    status = QueryStatus(
        query_id="q", batches=batches, groups=[GroupShapeMessage(group=0, partitions=3)]
    )
    seen = overview_of(Snapshot(STATE, None, DriverView(status)))
    assert (seen.batch, seen.batches_seen, seen.locality) == (9, 2, 1.0)
    assert seen.imbalance == {0: pytest.approx(1.0)}
    just_switched = QueryStatus(query_id="q", batches=batches[:3])
    nothing = overview_of(Snapshot(STATE, None, DriverView(just_switched)))
    assert (nothing.batch, nothing.batches_seen, nothing.locality) == (7, 0, None)


def test_groups_are_shown_with_the_columns_of_their_keys() -> None:
    (group,) = overview_of(Snapshot(STATE, None, DriverView(problem="no token"))).groups
    assert (group.group, group.operators, group.partitions) == (0, (0, 1), 3)
    assert (group.key_columns, group.routing_columns) == (("window", "k"), ("k",))


def test_without_the_driver_zookeepers_part_is_shown() -> None:
    seen = overview_of(Snapshot(STATE, None, DriverView(problem="no token")))
    assert (seen.problem, seen.version, seen.locality, seen.imbalance) == ("no token", 2, None, {})
    assert [(o.operator, o.routed, o.reason) for o in seen.operators] == [
        (3, False, "stream-stream join")
    ]


def test_a_query_that_does_not_run_is_shown_as_such() -> None:
    seen = overview_of(Snapshot(replace(STATE, live=None, in_force=None)))
    assert (seen.running, seen.version, seen.app_id) == (False, 0, "")
