"""The JSON payloads of the ZooKeeper tree (`docs/protocol.md`), to bytes and back.

Readers ignore unknown fields and take 64-bit integers as numbers or as strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from keyroute.core.table import GroupShape, InvalidTable
from keyroute.core.table_codec import shape_from_proto, shape_to_proto
from keyroute.v1 import reconfiguration_pb2, status_pb2, table_pb2
from keyroute.zookeeper.errors import Damaged

FORMAT = 1
MessageT = TypeVar("MessageT", bound=Message)


@dataclass(frozen=True, slots=True)
class Application:
    """`apps/<appId>`: a running Spark application and where its gateway listens."""

    app_id: str
    gateway_host: str
    gateway_port: int
    keyroute_version: str = ""
    spark_version: str = ""
    started_ms: int = 0

    @staticmethod
    def decode(data: bytes) -> Application:
        """Raises Damaged."""
        fields = _object(data, "an application")
        return Application(
            app_id=_text(fields, "appId"),
            gateway_host=_text(fields, "gatewayHost"),
            gateway_port=_integer(fields, "gatewayPort"),
            keyroute_version=str(fields.get("keyrouteVersion", "")),
            spark_version=str(fields.get("sparkVersion", "")),
            started_ms=_integer(fields, "startedMs", 0),
        )

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(
            appId=self.app_id,
            gatewayHost=self.gateway_host,
            gatewayPort=self.gateway_port,
            keyrouteVersion=self.keyroute_version,
            sparkVersion=self.spark_version,
            startedMs=self.started_ms,
        )


@dataclass(frozen=True, slots=True)
class QueryMeta:
    """`meta`: what is fixed about a query when it is first seen."""

    query_id: str
    name: str
    groups: tuple[GroupShape, ...]
    operators: tuple[status_pb2.OperatorStatus, ...] = ()

    @staticmethod
    def decode(data: bytes) -> QueryMeta:
        """Raises Damaged."""
        fields = _object(data, "a query's meta")
        return QueryMeta(
            query_id=_text(fields, "queryId"),
            name=str(fields.get("name") or ""),
            groups=tuple(_shape(group) for group in fields.get("groups", [])),
            operators=tuple(
                _parse(operator, status_pb2.OperatorStatus())
                for operator in fields.get("operators", [])
            ),
        )

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(
            queryId=self.query_id,
            name=self.name,
            groups=[json_format.MessageToDict(shape_to_proto(group)) for group in self.groups],
            operators=[json_format.MessageToDict(operator) for operator in self.operators],
        )


@dataclass(frozen=True, slots=True)
class Live:
    """`live`: the run in progress."""

    app_id: str
    run_id: str

    @staticmethod
    def decode(data: bytes) -> Live:
        """Raises Damaged."""
        fields = _object(data, "a live run")
        return Live(_text(fields, "appId"), _text(fields, "runId"))

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(appId=self.app_id, runId=self.run_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """`wanted`: the version that the driver is asked to switch to."""

    version: int
    hash: str

    @staticmethod
    def decode(data: bytes) -> Wanted:
        """Raises Damaged."""
        fields = _object(data, "a wanted version")
        return Wanted(_integer(fields, "version"), str(fields.get("hash", "")))

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(version=self.version, hash=self.hash)


@dataclass(frozen=True, slots=True)
class InForce:
    """`in_force`: the version that batches run under, since `batch`."""

    version: int
    hash: str
    batch: int = 0
    run_id: str = ""

    @staticmethod
    def decode(data: bytes) -> InForce:
        """Raises Damaged."""
        fields = _object(data, "a version in force")
        return InForce(
            version=_integer(fields, "version"),
            hash=str(fields.get("hash", "")),
            batch=_integer(fields, "batch", 0),
            run_id=str(fields.get("runId", "")),
        )

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(version=self.version, hash=self.hash, batch=self.batch, runId=self.run_id)


@dataclass(frozen=True, slots=True)
class TableMeta:
    """`tables/<v>/meta`: completes a version. `hash` is the hex SHA-256 of the joined chunks."""

    version: int
    hash: str
    size_bytes: int
    chunks: int
    created_ms: int = 0
    by: str = ""
    entries: int = 0

    @staticmethod
    def decode(data: bytes) -> TableMeta:
        """Raises Damaged."""
        fields = _object(data, "a table's meta")
        return TableMeta(
            version=_integer(fields, "version"),
            hash=_text(fields, "hash"),
            size_bytes=_integer(fields, "bytes"),
            chunks=_integer(fields, "chunks"),
            created_ms=_integer(fields, "createdMs", 0),
            by=str(fields.get("by", "")),
            entries=_integer(fields, "entries", 0),
        )

    def encode(self) -> bytes:
        """Bytes of the znode."""
        return _bytes(
            version=self.version,
            hash=self.hash,
            bytes=self.size_bytes,
            chunks=self.chunks,
            createdMs=self.created_ms,
            by=self.by,
            entries=self.entries,
        )


def decode_reconfiguration(data: bytes) -> reconfiguration_pb2.Reconfiguration:
    """`reconfiguration`, from protobuf's canonical JSON. Raises Damaged."""
    value = _parse(_object(data, "a reconfiguration"), reconfiguration_pb2.Reconfiguration())
    if value.phase not in reconfiguration_pb2.Phase.values() or not value.phase:
        raise Damaged("The znode of a Reconfiguration names no phase that this KeyRoute knows.")
    return value


def encode_reconfiguration(value: reconfiguration_pb2.Reconfiguration) -> bytes:
    """Bytes of the znode; fields at their default value are left out."""
    text: str = json_format.MessageToJson(value, indent=None)
    return text.encode("utf-8")


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except ValueError as error:
        raise Damaged(f"The znode of {what} holds no JSON: {error}.") from error
    if not isinstance(value, dict):
        raise Damaged(f"The znode of {what} holds no JSON object.")
    if _integer(value, "format", FORMAT) != FORMAT:
        raise Damaged(
            f"The znode of {what} has format {value['format']}, and this KeyRoute reads "
            f"format {FORMAT}: upgrade the controller."
        )
    return value


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise Damaged(f"A znode lacks the text field {name!r}.")
    return value


def _integer(fields: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = fields.get(name, default)
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise Damaged(f"A znode lacks the integer field {name!r}.") from error


def _shape(value: Any) -> GroupShape:
    try:
        return shape_from_proto(_parse(value, table_pb2.GroupShape()))
    except InvalidTable as error:
        raise Damaged(f"A query's meta names an impossible group: {error}.") from error


def _parse(value: Any, message: MessageT) -> MessageT:
    try:
        json_format.ParseDict(value, message, ignore_unknown_fields=True)
    except (json_format.ParseError, TypeError, AttributeError) as error:
        raise Damaged(f"A znode holds no {type(message).__name__}: {error}.") from error
    return message


def _bytes(**fields: Any) -> bytes:
    return json.dumps({"format": FORMAT, **fields}, separators=(",", ":")).encode("utf-8")
