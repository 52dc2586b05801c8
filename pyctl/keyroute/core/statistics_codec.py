"""Statistics to and from the bytes of the contract (proto/keyroute/v1/statistics.proto)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from google.protobuf.message import DecodeError

from keyroute.core import statistics as s
from keyroute.core.table import Int64Array
from keyroute.core.table_codec import shape_from_proto, shape_to_proto
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
    return from_proto(message)


def to_proto(statistics: s.QueryStatistics) -> statistics_pb2.QueryStatistics:
    """The message of statistics; what a sketch had room for, and how an upstream key was found, is
    not kept."""
    return statistics_pb2.QueryStatistics(
        format=FORMAT,
        query_id=statistics.query_id,
        run_id=statistics.run_id,
        name=statistics.name,
        periods=[_period_to_proto(p) for p in statistics.periods],
        placement=[
            statistics_pb2.PartitionPlacement(
                group=p.group,
                partition=p.partition,
                executor=p.executor,
                host=p.host,
                zone=p.zone,
            )
            for p in statistics.placement
        ],
        table_version=statistics.table_version,
        batch=statistics.batch,
    )


def from_proto(message: statistics_pb2.QueryStatistics) -> s.QueryStatistics:
    """Statistics from their message. Raises `InvalidStatistics`, `InvalidTable`."""
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
            s.PartitionPlacement(p.group, p.partition, p.executor, p.host, p.zone)
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
    state_rows, state_bytes = _array(message.slot_state_rows), _array(message.slot_state_bytes)
    _require_length(shape.group, "slots' state", state_rows, shape.slots)
    _require_length(shape.group, "slots' state bytes", state_bytes, shape.slots)
    partition_ms = _array(message.partition_ms)
    _require_length(shape.group, "partitions' time", partition_ms, shape.partitions)
    return s.GroupStatistics(
        shape=shape,
        rows=message.rows,
        slot_rows=slot_rows,
        partition_rows=partition_rows,
        explicit_rows=message.explicit_rows,
        keys=_keys(shape.slots, message.keys),
        slot_state_rows=state_rows,
        slot_state_bytes=state_bytes,
        partition_ms=partition_ms,
        sources=_pairs(message.sources),
    )


def _keys(slots: int, message: statistics_pb2.KeySketch) -> s.KeyCounts:
    arrays = [_array(message.fingerprints), _array(message.counts), _array(message.errors)]
    _require_parallel("key sketch", arrays)
    slot = _array(message.slots)
    if len(slot):
        _require_parallel("key sketch with slots", [*arrays, slot])
        _require_below("key sketch", "slot", slot, slots)
    labels = tuple(message.labels)
    if labels and len(labels) != len(arrays[0]):
        raise InvalidStatistics(f"key sketch: {len(labels)} labels of {len(arrays[0])} keys")
    return s.KeyCounts(message.rows, arrays[0], arrays[1], arrays[2], labels, slot)


def _pairs(message: statistics_pb2.PairSketch) -> s.PairCounts:
    of = (message.upstream, message.downstream, message.counts, message.errors)
    arrays = [_array(a) for a in of]
    _require_parallel("pair sketch", arrays)
    return s.PairCounts(message.rows, *arrays)


def _slot_pairs(message: statistics_pb2.SlotPairs) -> s.SlotPairs:
    arrays = [_array(a) for a in (message.upstream, message.downstream, message.rows)]
    _require_parallel("pairs of slots", arrays)
    return s.SlotPairs(arrays[0], arrays[1], arrays[2], message.left_out)


def _edge(message: statistics_pb2.EdgeStatistics) -> s.EdgeStatistics:
    return s.EdgeStatistics(
        upstream_group=message.upstream_group,
        downstream_group=message.downstream_group,
        rows=message.rows,
        local_rows=message.local_rows,
        pairs=_pairs(message.pairs),
        slot_pairs=_slot_pairs(message.slot_pairs),
    )


def _period_to_proto(period: s.Period) -> statistics_pb2.Period:
    return statistics_pb2.Period(
        first_batch=period.first_batch,
        last_batch=period.last_batch,
        table_version=period.table_version,
        rows=period.rows,
        groups=[_group_to_proto(g) for g in period.groups],
        edges=[_edge_to_proto(e) for e in period.edges],
        local_bytes=period.local_bytes,
        remote_bytes=period.remote_bytes,
    )


def _group_to_proto(group: s.GroupStatistics) -> statistics_pb2.GroupStatistics:
    keys = group.keys
    return statistics_pb2.GroupStatistics(
        shape=shape_to_proto(group.shape),
        rows=group.rows,
        slot_rows=group.slot_rows.tolist(),
        partition_rows=group.partition_rows.tolist(),
        explicit_rows=group.explicit_rows,
        keys=statistics_pb2.KeySketch(
            rows=keys.rows,
            fingerprints=keys.fingerprints.tolist(),
            counts=keys.counts.tolist(),
            errors=keys.errors.tolist(),
            labels=keys.labels,
            slots=keys.slots.tolist(),
        ),
        slot_state_rows=group.slot_state_rows.tolist(),
        slot_state_bytes=group.slot_state_bytes.tolist(),
        partition_ms=group.partition_ms.tolist(),
        sources=_pairs_to_proto(group.sources),
    )


def _pairs_to_proto(pairs: s.PairCounts) -> statistics_pb2.PairSketch:
    return statistics_pb2.PairSketch(
        rows=pairs.rows,
        upstream=pairs.upstream.tolist(),
        downstream=pairs.downstream.tolist(),
        counts=pairs.counts.tolist(),
        errors=pairs.errors.tolist(),
    )


def _edge_to_proto(edge: s.EdgeStatistics) -> statistics_pb2.EdgeStatistics:
    cells = edge.slot_pairs
    return statistics_pb2.EdgeStatistics(
        upstream_group=edge.upstream_group,
        downstream_group=edge.downstream_group,
        rows=edge.rows,
        local_rows=edge.local_rows,
        pairs=_pairs_to_proto(edge.pairs),
        slot_pairs=statistics_pb2.SlotPairs(
            upstream=cells.upstream.tolist(),
            downstream=cells.downstream.tolist(),
            rows=cells.rows.tolist(),
            left_out=cells.left_out,
        ),
    )


def _array(values: Iterable[int]) -> Int64Array:
    numbers = list(values)
    try:
        return np.array(numbers, dtype=np.int64)
    except OverflowError as e:
        raise InvalidStatistics(f"a count of {max(numbers)} is 2^63 or more") from e


def _require_parallel(what: str, arrays: list[Int64Array]) -> None:
    if len({len(a) for a in arrays}) > 1:
        raise InvalidStatistics(f"{what}: arrays of {[len(a) for a in arrays]} entries")


def _require_length(group: int, what: str, rows: Int64Array, wanted: int) -> None:
    if len(rows) not in (0, wanted):
        raise InvalidStatistics(f"group {group}: rows of {len(rows)} {what}, expected {wanted}")


def _require_below(where: str, what: str, values: Int64Array, bound: int) -> None:
    if values.max(initial=0) >= bound:
        raise InvalidStatistics(f"{where}: {what} {values.max()} is not below {bound}")
