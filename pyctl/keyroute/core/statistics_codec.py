"""Statistics from the bytes of the contract (proto/keyroute/v1/statistics.proto)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from google.protobuf.message import DecodeError

from keyroute.core import statistics as s
from keyroute.core.table import Int64Array
from keyroute.core.table_codec import shape_from_proto
from keyroute.v1 import statistics_pb2

FORMAT = 1


class InvalidStatistics(ValueError):
    """Bytes that are no statistics, or whose parallel arrays do not fit each other."""


def decode(data: bytes) -> s.QueryStatistics:
    """The answer of the gateway's `statistics`. Raises `InvalidStatistics`, `InvalidTable`."""
    message = statistics_pb2.QueryStatistics()
    try:
        message.ParseFromString(data)
    except DecodeError as e:
        raise InvalidStatistics(f"these {len(data)} bytes are not query statistics: {e}") from e
    if message.format != FORMAT:
        raise InvalidStatistics(
            f"statistics have format {message.format}; this version reads format {FORMAT}"
        )
    return s.QueryStatistics(
        query_id=message.query_id,
        run_id=message.run_id,
        name=message.name,
        periods=tuple(_period(p) for p in message.periods),
        placement=tuple(
            s.PartitionPlacement(p.group, p.partition, p.executor, p.host)
            for p in message.placement
        ),
        table_version=message.table_version,
        batch=message.batch,
    )


def _period(message: statistics_pb2.Period) -> s.Period:
    return s.Period(
        first_batch=message.first_batch,
        last_batch=message.last_batch,
        table_version=message.table_version,
        rows=message.rows,
        groups=tuple(_group(g) for g in message.groups),
        edges=tuple(_edge(e) for e in message.edges),
        local_bytes=message.local_bytes,
        remote_bytes=message.remote_bytes,
    )


def _group(message: statistics_pb2.GroupStatistics) -> s.GroupStatistics:
    shape = shape_from_proto(message.shape)
    slot_rows = _array(message.slot_rows)
    partition_rows = _array(message.partition_rows)
    _require_length(shape.group, "slots", slot_rows, shape.slots)
    _require_length(shape.group, "partitions", partition_rows, shape.partitions)
    return s.GroupStatistics(
        shape=shape,
        rows=message.rows,
        slot_rows=slot_rows,
        partition_rows=partition_rows,
        explicit_rows=message.explicit_rows,
        keys=_keys(message.keys),
    )


def _keys(message: statistics_pb2.KeySketch) -> s.KeyCounts:
    arrays = [_array(message.fingerprints), _array(message.counts), _array(message.errors)]
    _require_parallel("key sketch", arrays)
    return s.KeyCounts(message.rows, arrays[0], arrays[1], arrays[2], tuple(message.labels))


def _edge(message: statistics_pb2.EdgeStatistics) -> s.EdgeStatistics:
    pairs = message.pairs
    arrays = [_array(a) for a in (pairs.upstream, pairs.downstream, pairs.counts, pairs.errors)]
    _require_parallel("pair sketch", arrays)
    return s.EdgeStatistics(
        upstream_group=message.upstream_group,
        downstream_group=message.downstream_group,
        rows=message.rows,
        local_rows=message.local_rows,
        pairs=s.PairCounts(pairs.rows, *arrays),
    )


def _array(values: Iterable[int]) -> Int64Array:
    return np.array(list(values), dtype=np.int64)


def _require_parallel(what: str, arrays: list[Int64Array]) -> None:
    if len({len(a) for a in arrays}) > 1:
        raise InvalidStatistics(f"{what}: arrays of {[len(a) for a in arrays]} entries")


def _require_length(group: int, what: str, rows: Int64Array, wanted: int) -> None:
    if len(rows) not in (0, wanted):
        raise InvalidStatistics(f"group {group}: rows of {len(rows)} {what}, expected {wanted}")
