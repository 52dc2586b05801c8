"""Tables to and from the bytes of the contract (proto/keyroute/v1/table.proto)."""

from __future__ import annotations

import hashlib

import numpy as np
from google.protobuf.message import DecodeError

from keyroute.core.table import GroupShape, GroupTable, InvalidTable, RoutingTables
from keyroute.v1 import table_pb2

FORMAT = 1


def encode(tables: RoutingTables) -> bytes:
    """The serialised `RoutingTables`; equal tables give equal bytes."""
    return to_proto(tables).SerializeToString(deterministic=True)


def to_proto(tables: RoutingTables) -> table_pb2.RoutingTables:
    """The message of a version."""
    return table_pb2.RoutingTables(
        format=FORMAT,
        version=tables.version,
        query_id=tables.query_id,
        groups=[_group_to_proto(g) for g in tables.groups],
        parts=tables.parts,
    )


def decode(data: bytes) -> RoutingTables:
    """Tables from their bytes. Raises `InvalidTable`."""
    message = table_pb2.RoutingTables()
    try:
        message.ParseFromString(data)
    except DecodeError as e:
        raise InvalidTable(f"these {len(data)} bytes are not routing tables: {e}") from e
    return from_proto(message)


def from_proto(message: table_pb2.RoutingTables) -> RoutingTables:
    """Tables from their message. Raises `InvalidTable`."""
    if message.format != FORMAT:
        raise InvalidTable(
            f"tables have format {message.format}; this version reads format {FORMAT}"
        )
    return RoutingTables(
        version=message.version,
        query_id=message.query_id,
        groups=tuple(_group_from_proto(g) for g in message.groups),
        parts=tuple(message.parts),
    )


def content_hash(data: bytes) -> str:
    """Identity of a version beside its number: SHA-256 of its bytes, lower-case hex."""
    return hashlib.sha256(data).hexdigest()


def shape_to_proto(shape: GroupShape) -> table_pb2.GroupShape:
    """The message of a shape."""
    return table_pb2.GroupShape(
        group=shape.group,
        operators=shape.operators,
        partitions=shape.partitions,
        slots=shape.slots,
        routing_ordinals=shape.routing_ordinals,
        key_names=shape.key_names,
        key_types=shape.key_types,
        hash=shape.hash,  # type: ignore[arg-type]
        stable_slots=shape.stable_slots,
    )


def shape_from_proto(message: table_pb2.GroupShape) -> GroupShape:
    """A shape from its message. Raises `InvalidTable`."""
    return GroupShape(
        group=message.group,
        operators=tuple(message.operators),
        partitions=message.partitions,
        slots=message.slots,
        routing_ordinals=tuple(message.routing_ordinals),
        key_names=tuple(message.key_names),
        key_types=tuple(message.key_types),
        hash=int(message.hash),
        stable_slots=message.stable_slots,
    )


def _group_to_proto(table: GroupTable) -> table_pb2.GroupTable:
    return table_pb2.GroupTable(
        shape=shape_to_proto(table.shape),
        fingerprints=table.fingerprints.tolist(),
        targets=table.targets.tolist(),
        slot_owners=[] if table.slot_owners is None else table.slot_owners.tolist(),
    )


def _group_from_proto(message: table_pb2.GroupTable) -> GroupTable:
    targets = np.array(message.targets, dtype=np.int64)
    owners = np.array(message.slot_owners, dtype=np.int64)
    limit = np.iinfo(np.int32).max
    if (targets > limit).any() or (owners > limit).any():
        raise InvalidTable(f"group {message.shape.group}: a partition is above {limit}")
    return GroupTable(
        shape=shape_from_proto(message.shape),
        fingerprints=np.array(message.fingerprints, dtype=np.int64),
        targets=targets.astype(np.int32),
        slot_owners=owners.astype(np.int32) if len(owners) else None,
    )
