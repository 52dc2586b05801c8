from keyroute.v1 import table_pb2 as _table_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class OperatorStatus(_message.Message):
    __slots__ = ("operator", "name", "group", "routed", "reason")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    ROUTED_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    operator: int
    name: str
    group: int
    routed: bool
    reason: str
    def __init__(self, operator: _Optional[int] = ..., name: _Optional[str] = ..., group: _Optional[int] = ..., routed: bool = ..., reason: _Optional[str] = ...) -> None: ...

class PartitionRows(_message.Message):
    __slots__ = ("group", "rows")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    group: int
    rows: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, group: _Optional[int] = ..., rows: _Optional[_Iterable[int]] = ...) -> None: ...

class BatchStatus(_message.Message):
    __slots__ = ("batch", "table_version", "input_rows", "duration_ms", "edge_rows", "local_rows", "local_bytes", "remote_bytes", "imbalance", "partition_rows", "ended_ms")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    TABLE_VERSION_FIELD_NUMBER: _ClassVar[int]
    INPUT_ROWS_FIELD_NUMBER: _ClassVar[int]
    DURATION_MS_FIELD_NUMBER: _ClassVar[int]
    EDGE_ROWS_FIELD_NUMBER: _ClassVar[int]
    LOCAL_ROWS_FIELD_NUMBER: _ClassVar[int]
    LOCAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    REMOTE_BYTES_FIELD_NUMBER: _ClassVar[int]
    IMBALANCE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_ROWS_FIELD_NUMBER: _ClassVar[int]
    ENDED_MS_FIELD_NUMBER: _ClassVar[int]
    batch: int
    table_version: int
    input_rows: int
    duration_ms: int
    edge_rows: int
    local_rows: int
    local_bytes: int
    remote_bytes: int
    imbalance: _containers.RepeatedScalarFieldContainer[float]
    partition_rows: _containers.RepeatedCompositeFieldContainer[PartitionRows]
    ended_ms: int
    def __init__(self, batch: _Optional[int] = ..., table_version: _Optional[int] = ..., input_rows: _Optional[int] = ..., duration_ms: _Optional[int] = ..., edge_rows: _Optional[int] = ..., local_rows: _Optional[int] = ..., local_bytes: _Optional[int] = ..., remote_bytes: _Optional[int] = ..., imbalance: _Optional[_Iterable[float]] = ..., partition_rows: _Optional[_Iterable[_Union[PartitionRows, _Mapping]]] = ..., ended_ms: _Optional[int] = ...) -> None: ...

class SwitchStatus(_message.Message):
    __slots__ = ("batch", "from_version", "to_version", "rows_moved", "rows_seen", "handoff_ms", "apply_ms", "pulled")
    BATCH_FIELD_NUMBER: _ClassVar[int]
    FROM_VERSION_FIELD_NUMBER: _ClassVar[int]
    TO_VERSION_FIELD_NUMBER: _ClassVar[int]
    ROWS_MOVED_FIELD_NUMBER: _ClassVar[int]
    ROWS_SEEN_FIELD_NUMBER: _ClassVar[int]
    HANDOFF_MS_FIELD_NUMBER: _ClassVar[int]
    APPLY_MS_FIELD_NUMBER: _ClassVar[int]
    PULLED_FIELD_NUMBER: _ClassVar[int]
    batch: int
    from_version: int
    to_version: int
    rows_moved: int
    rows_seen: int
    handoff_ms: int
    apply_ms: int
    pulled: bool
    def __init__(self, batch: _Optional[int] = ..., from_version: _Optional[int] = ..., to_version: _Optional[int] = ..., rows_moved: _Optional[int] = ..., rows_seen: _Optional[int] = ..., handoff_ms: _Optional[int] = ..., apply_ms: _Optional[int] = ..., pulled: bool = ...) -> None: ...

class QueryStatus(_message.Message):
    __slots__ = ("format", "query_id", "run_id", "name", "table_version", "table_hash", "table_since_batch", "groups", "operators", "batches", "switches", "waiting", "bypass")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    QUERY_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TABLE_VERSION_FIELD_NUMBER: _ClassVar[int]
    TABLE_HASH_FIELD_NUMBER: _ClassVar[int]
    TABLE_SINCE_BATCH_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    BATCHES_FIELD_NUMBER: _ClassVar[int]
    SWITCHES_FIELD_NUMBER: _ClassVar[int]
    WAITING_FIELD_NUMBER: _ClassVar[int]
    BYPASS_FIELD_NUMBER: _ClassVar[int]
    format: int
    query_id: str
    run_id: str
    name: str
    table_version: int
    table_hash: str
    table_since_batch: int
    groups: _containers.RepeatedCompositeFieldContainer[_table_pb2.GroupShape]
    operators: _containers.RepeatedCompositeFieldContainer[OperatorStatus]
    batches: _containers.RepeatedCompositeFieldContainer[BatchStatus]
    switches: _containers.RepeatedCompositeFieldContainer[SwitchStatus]
    waiting: str
    bypass: str
    def __init__(self, format: _Optional[int] = ..., query_id: _Optional[str] = ..., run_id: _Optional[str] = ..., name: _Optional[str] = ..., table_version: _Optional[int] = ..., table_hash: _Optional[str] = ..., table_since_batch: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[_table_pb2.GroupShape, _Mapping]]] = ..., operators: _Optional[_Iterable[_Union[OperatorStatus, _Mapping]]] = ..., batches: _Optional[_Iterable[_Union[BatchStatus, _Mapping]]] = ..., switches: _Optional[_Iterable[_Union[SwitchStatus, _Mapping]]] = ..., waiting: _Optional[str] = ..., bypass: _Optional[str] = ...) -> None: ...

class ApplicationStatus(_message.Message):
    __slots__ = ("format", "app_id", "keyroute_version", "spark_version", "queries", "zookeeper_connected")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    APP_ID_FIELD_NUMBER: _ClassVar[int]
    KEYROUTE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SPARK_VERSION_FIELD_NUMBER: _ClassVar[int]
    QUERIES_FIELD_NUMBER: _ClassVar[int]
    ZOOKEEPER_CONNECTED_FIELD_NUMBER: _ClassVar[int]
    format: int
    app_id: str
    keyroute_version: str
    spark_version: str
    queries: _containers.RepeatedCompositeFieldContainer[QueryStatus]
    zookeeper_connected: bool
    def __init__(self, format: _Optional[int] = ..., app_id: _Optional[str] = ..., keyroute_version: _Optional[str] = ..., spark_version: _Optional[str] = ..., queries: _Optional[_Iterable[_Union[QueryStatus, _Mapping]]] = ..., zookeeper_connected: bool = ...) -> None: ...
