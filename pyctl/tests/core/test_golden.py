"""Golden bytes of the contract (proto/golden): decoded and encoded again, equal to the bit."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from google.protobuf.message import Message

from keyroute.core import dump, statistics_codec, table_codec
from keyroute.v1 import (
    reconfiguration_pb2,
    route_log_pb2,
    statistics_pb2,
    status_pb2,
    table_pb2,
)

GOLDEN = Path(__file__).parents[3] / "proto" / "golden"
MESSAGES: dict[str, type[Message]] = {
    "application_status": status_pb2.ApplicationStatus,
    "map_task_counts": statistics_pb2.MapTaskCounts,
    "query_statistics": statistics_pb2.QueryStatistics,
    "reconfiguration": reconfiguration_pb2.Reconfiguration,
    "route_entry": route_log_pb2.RouteEntry,
    "routing_tables": table_pb2.RoutingTables,
}
# What a file has before its message: that of a route entry is one of Spark's metadata logs.
HEADS = {"route_entry": b"keyroute route entry 1\n"}


def test_every_golden_message_is_known_and_there() -> None:
    assert {path.stem for path in GOLDEN.glob("*.bin")} == set(MESSAGES)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_messages_there_and_back(name: str) -> None:
    file, head = (GOLDEN / f"{name}.bin").read_bytes(), HEADS.get(name, b"")
    assert file.startswith(head)
    data = file[len(head) :]
    message = MESSAGES[name].FromString(data)
    assert message.ByteSize() > 0
    assert message.SerializeToString(deterministic=True) == data


def test_tables_there_and_back() -> None:
    data = (GOLDEN / "routing_tables.bin").read_bytes()
    tables = table_codec.decode(data)
    assert tables.entries > 0
    assert table_codec.encode(tables) == data


def test_statistics_become_arrays() -> None:
    data = (GOLDEN / "query_statistics.bin").read_bytes()
    statistics = statistics_codec.decode(data)
    message = statistics_pb2.QueryStatistics.FromString(data)
    assert statistics.query_id == message.query_id
    assert len(statistics.periods) == len(message.periods) > 0
    for period, raw in zip(statistics.periods, message.periods, strict=True):
        assert [g.slot_rows.tolist() for g in period.groups] == [
            list(g.slot_rows) for g in raw.groups
        ]
        assert [e.pairs.counts.tolist() for e in period.edges] == [
            list(e.pairs.counts) for e in raw.edges
        ]
        assert [e.slot_pairs.left_out for e in period.edges] == [
            e.slot_pairs.left_out for e in raw.edges
        ]


def test_a_dump_of_format_1_stays_readable() -> None:
    data = (GOLDEN / "query.dump").read_bytes()
    kept = dump.decode(data)
    assert kept.statistics.name == "flights"
    (period,) = kept.statistics.periods
    assert period.rows == 12
    assert [len(g.keys.fingerprints) for g in period.groups] == [2]
    assert [e.pairs.counts.tolist() for e in period.edges] == [[7, 5]]
    assert [(p.executor, p.host) for p in kept.statistics.placement] == [("0", "::1")]
    assert (kept.current.version, kept.current.entries) == (7, 7)
    assert [shape.group for shape in kept.shapes] == [0, 2]
    assert (kept.note, kept.by, kept.created_ms) == ("assumed", "golden", 1_700_000_000_000)
    assert _unzipped(dump.encode(kept)) == _unzipped(data)


def _unzipped(data: bytes) -> tuple[bytes, bytes]:
    """The first line and the message: versions of zlib differ in how they compress."""
    head, _, body = data.partition(b"\n")
    return head, gzip.decompress(body)
