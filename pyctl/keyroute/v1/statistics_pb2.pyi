from keyroute.v1 import table_pb2 as _table_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class KeySketch(_message.Message):
    __slots__ = ("rows", "capacity", "fingerprints", "counts", "errors", "labels", "slots", "floor")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINTS_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    rows: int
    capacity: int
    fingerprints: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.RepeatedScalarFieldContainer[int]
    labels: _containers.RepeatedScalarFieldContainer[str]
    slots: _containers.RepeatedScalarFieldContainer[int]
    floor: int
    def __init__(self, rows: _Optional[int] = ..., capacity: _Optional[int] = ..., fingerprints: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ..., errors: _Optional[_Iterable[int]] = ..., labels: _Optional[_Iterable[str]] = ..., slots: _Optional[_Iterable[int]] = ..., floor: _Optional[int] = ...) -> None: ...

class PairSketch(_message.Message):
    __slots__ = ("rows", "capacity", "upstream", "downstream", "counts", "errors", "floor")
    ROWS_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_FIELD_NUMBER: _ClassVar[int]
    DOWNSTREAM_FIELD_NUMBER: _ClassVar[int]
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    rows: int
    capacity: int
    upstream: _containers.RepeatedScalarFieldContainer[int]
    downstream: _containers.RepeatedScalarFieldContainer[int]
    counts: _containers.RepeatedScalarFieldContainer[int]
    errors: _containers.RepeatedScalarFieldContainer[int]
    floor: int
    def __init__(self, rows: _Optional[int] = ..., capacity: _Optional[int] = ..., upstream: _Optional[_Iterable[int]] = ..., downstream: _Optional[_Iterable[int]] = ..., counts: _Optional[_Iterable[int]] = ..., errors: _Optional[_Iterable[int]] = ..., floor: _Optional[int] = ...) -> None: ...

class SlotPairs(_message.Message):
    __slots__ = ("upstream", "downstream", "rows", "left_out")
    UPSTREAM_FIELD_NUMBER: _ClassVar[int]
    DOWNSTREAM_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    upstream: _containers.RepeatedScalarFieldContainer[int]
    downstream: _containers.RepeatedScalarFieldContainer[int]
    rows: _containers.RepeatedScalarFieldContainer[int]
    left_out: int
    def __init__(self, upstream: _Optional[_Iterable[int]] = ..., downstream: _Optional[_Iterable[int]] = ..., rows: _Optional[_Iterable[int]] = ..., left_out: _Optional[int] = ...) -> None: ...

class MapTaskCounts(_message.Message):
    __slots__ = ("run_id", "batch", "group", "exchange", "map_partition", "executor", "partition_rows", "explicit_rows", "slots", "slot_rows", "keys", "upstream_group", "pairs", "upstream_key", "slot_pairs", "reads_source")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    MAP_PARTITION_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    PARTITION_ROWS_FIELD_NUMBER: _ClassVar[int]
    EXPLICIT_ROWS_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    SLOT_ROWS_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_GROUP_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_KEY_FIELD_NUMBER: _ClassVar[int]
    SLOT_PAIRS_FIELD_NUMBER: _ClassVar[int]
    READS_SOURCE_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    batch: int
    group: int
    exchange: int
    map_partition: int
    executor: str
    partition_rows: _containers.RepeatedScalarFieldContainer[int]
    explicit_rows: int
    slots: _containers.RepeatedScalarFieldContainer[int]
    slot_rows: _containers.RepeatedScalarFieldContainer[int]
    keys: KeySketch
    upstream_group: int
    pairs: PairSketch
    upstream_key: str
    slot_pairs: SlotPairs
    reads_source: bool
    def __init__(self, run_id: _Optional[str] = ..., batch: _Optional[int] = ..., group: _Optional[int] = ..., exchange: _Optional[int] = ..., map_partition: _Optional[int] = ..., executor: _Optional[str] = ..., partition_rows: _Optional[_Iterable[int]] = ..., explicit_rows: _Optional[int] = ..., slots: _Optional[_Iterable[int]] = ..., slot_rows: _Optional[_Iterable[int]] = ..., keys: _Optional[_Union[KeySketch, _Mapping]] = ..., upstream_group: _Optional[int] = ..., pairs: _Optional[_Union[PairSketch, _Mapping]] = ..., upstream_key: _Optional[str] = ..., slot_pairs: _Optional[_Union[SlotPairs, _Mapping]] = ..., reads_source: bool = ...) -> None: ...

class ReduceTaskReads(_message.Message):
    __slots__ = ("run_id", "batch", "group", "exchange", "partition", "executor", "run_ms", "state_rows", "state_bytes")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    RUN_MS_FIELD_NUMBER: _ClassVar[int]
    STATE_ROWS_FIELD_NUMBER: _ClassVar[int]
    STATE_BYTES_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    batch: int
    group: int
    exchange: int
    partition: int
    executor: str
    run_ms: int
    state_rows: int
    state_bytes: int
    def __init__(self, run_id: _Optional[str] = ..., batch: _Optional[int] = ..., group: _Optional[int] = ..., exchange: _Optional[int] = ..., partition: _Optional[int] = ..., executor: _Optional[str] = ..., run_ms: _Optional[int] = ..., state_rows: _Optional[int] = ..., state_bytes: _Optional[int] = ...) -> None: ...

class GroupStatistics(_message.Message):
    __slots__ = ("shape", "rows", "slot_rows", "partition_rows", "explicit_rows", "keys", "slot_state_rows", "slot_state_bytes", "partition_ms", "sources")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SLOT_ROWS_FIELD_NUMBER: _ClassVar[int]
    PARTITION_ROWS_FIELD_NUMBER: _ClassVar[int]
    EXPLICIT_ROWS_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    SLOT_STATE_ROWS_FIELD_NUMBER: _ClassVar[int]
    SLOT_STATE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PARTITION_MS_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    shape: _table_pb2.GroupShape
    rows: int
    slot_rows: _containers.RepeatedScalarFieldContainer[int]
    partition_rows: _containers.RepeatedScalarFieldContainer[int]
    explicit_rows: int
    keys: KeySketch
    slot_state_rows: _containers.RepeatedScalarFieldContainer[int]
    slot_state_bytes: _containers.RepeatedScalarFieldContainer[int]
    partition_ms: _containers.RepeatedScalarFieldContainer[int]
    sources: PairSketch
    def __init__(self, shape: _Optional[_Union[_table_pb2.GroupShape, _Mapping]] = ..., rows: _Optional[int] = ..., slot_rows: _Optional[_Iterable[int]] = ..., partition_rows: _Optional[_Iterable[int]] = ..., explicit_rows: _Optional[int] = ..., keys: _Optional[_Union[KeySketch, _Mapping]] = ..., slot_state_rows: _Optional[_Iterable[int]] = ..., slot_state_bytes: _Optional[_Iterable[int]] = ..., partition_ms: _Optional[_Iterable[int]] = ..., sources: _Optional[_Union[PairSketch, _Mapping]] = ...) -> None: ...

class EdgeStatistics(_message.Message):
    __slots__ = ("upstream_group", "downstream_group", "rows", "local_rows", "pairs", "upstream_key", "slot_pairs")
    UPSTREAM_GROUP_FIELD_NUMBER: _ClassVar[int]
    DOWNSTREAM_GROUP_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    LOCAL_ROWS_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_KEY_FIELD_NUMBER: _ClassVar[int]
    SLOT_PAIRS_FIELD_NUMBER: _ClassVar[int]
    upstream_group: int
    downstream_group: int
    rows: int
    local_rows: int
    pairs: PairSketch
    upstream_key: str
    slot_pairs: SlotPairs
    def __init__(self, upstream_group: _Optional[int] = ..., downstream_group: _Optional[int] = ..., rows: _Optional[int] = ..., local_rows: _Optional[int] = ..., pairs: _Optional[_Union[PairSketch, _Mapping]] = ..., upstream_key: _Optional[str] = ..., slot_pairs: _Optional[_Union[SlotPairs, _Mapping]] = ...) -> None: ...

class Period(_message.Message):
    __slots__ = ("first_batch", "last_batch", "table_version", "rows", "groups", "edges", "local_bytes", "remote_bytes")
    FIRST_BATCH_FIELD_NUMBER: _ClassVar[int]
    LAST_BATCH_FIELD_NUMBER: _ClassVar[int]
    TABLE_VERSION_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    LOCAL_BYTES_FIELD_NUMBER: _ClassVar[int]
    REMOTE_BYTES_FIELD_NUMBER: _ClassVar[int]
    first_batch: int
    last_batch: int
    table_version: int
    rows: int
    groups: _containers.RepeatedCompositeFieldContainer[GroupStatistics]
    edges: _containers.RepeatedCompositeFieldContainer[EdgeStatistics]
    local_bytes: int
    remote_bytes: int
    def __init__(self, first_batch: _Optional[int] = ..., last_batch: _Optional[int] = ..., table_version: _Optional[int] = ..., rows: _Optional[int] = ..., groups: _Optional[_Iterable[_Union[GroupStatistics, _Mapping]]] = ..., edges: _Optional[_Iterable[_Union[EdgeStatistics, _Mapping]]] = ..., local_bytes: _Optional[int] = ..., remote_bytes: _Optional[int] = ...) -> None: ...

class PartitionPlacement(_message.Message):
    __slots__ = ("group", "partition", "executor", "host", "zone")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    HOST_FIELD_NUMBER: _ClassVar[int]
    ZONE_FIELD_NUMBER: _ClassVar[int]
    group: int
    partition: int
    executor: str
    host: str
    zone: str
    def __init__(self, group: _Optional[int] = ..., partition: _Optional[int] = ..., executor: _Optional[str] = ..., host: _Optional[str] = ..., zone: _Optional[str] = ...) -> None: ...

class QueryStatistics(_message.Message):
    __slots__ = ("format", "query_id", "run_id", "name", "periods", "placement", "table_version", "batch")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    QUERY_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PERIODS_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    TABLE_VERSION_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    format: int
    query_id: str
    run_id: str
    name: str
    periods: _containers.RepeatedCompositeFieldContainer[Period]
    placement: _containers.RepeatedCompositeFieldContainer[PartitionPlacement]
    table_version: int
    batch: int
    def __init__(self, format: _Optional[int] = ..., query_id: _Optional[str] = ..., run_id: _Optional[str] = ..., name: _Optional[str] = ..., periods: _Optional[_Iterable[_Union[Period, _Mapping]]] = ..., placement: _Optional[_Iterable[_Union[PartitionPlacement, _Mapping]]] = ..., table_version: _Optional[int] = ..., batch: _Optional[int] = ...) -> None: ...
