from keyroute.v1 import table_pb2 as _table_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RouteEntry(_message.Message):
    __slots__ = ("format", "query_id", "batch", "offsets_hash", "table_version", "table_hash", "groups", "bypassed", "switch", "crc32c")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    QUERY_ID_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    OFFSETS_HASH_FIELD_NUMBER: _ClassVar[int]
    TABLE_VERSION_FIELD_NUMBER: _ClassVar[int]
    TABLE_HASH_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    BYPASSED_FIELD_NUMBER: _ClassVar[int]
    SWITCH_FIELD_NUMBER: _ClassVar[int]
    CRC32C_FIELD_NUMBER: _ClassVar[int]
    format: int
    query_id: str
    batch: int
    offsets_hash: str
    table_version: int
    table_hash: str
    groups: _containers.RepeatedCompositeFieldContainer[_table_pb2.GroupShape]
    bypassed: _containers.RepeatedCompositeFieldContainer[BypassedOperator]
    switch: Switch
    crc32c: int
    def __init__(self, format: _Optional[int] = ..., query_id: _Optional[str] = ..., batch: _Optional[int] = ..., offsets_hash: _Optional[str] = ..., table_version: _Optional[int] = ..., table_hash: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[_table_pb2.GroupShape, _Mapping]]] = ..., bypassed: _Optional[_Iterable[_Union[BypassedOperator, _Mapping]]] = ..., switch: _Optional[_Union[Switch, _Mapping]] = ..., crc32c: _Optional[int] = ...) -> None: ...

class BypassedOperator(_message.Message):
    __slots__ = ("operator", "reason")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    operator: int
    reason: str
    def __init__(self, operator: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...

class Switch(_message.Message):
    __slots__ = ("from_version", "from_hash", "moved")
    FROM_VERSION_FIELD_NUMBER: _ClassVar[int]
    FROM_HASH_FIELD_NUMBER: _ClassVar[int]
    MOVED_FIELD_NUMBER: _ClassVar[int]
    from_version: int
    from_hash: str
    moved: _containers.RepeatedCompositeFieldContainer[MovedRows]
    def __init__(self, from_version: _Optional[int] = ..., from_hash: _Optional[str] = ..., moved: _Optional[_Iterable[_Union[MovedRows, _Mapping]]] = ...) -> None: ...

class MovedRows(_message.Message):
    __slots__ = ("operator", "store", "source", "target", "rows", "checksum", "file")
    OPERATOR_FIELD_NUMBER: _ClassVar[int]
    STORE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    operator: int
    store: str
    source: int
    target: int
    rows: int
    checksum: int
    file: str
    def __init__(self, operator: _Optional[int] = ..., store: _Optional[str] = ..., source: _Optional[int] = ..., target: _Optional[int] = ..., rows: _Optional[int] = ..., checksum: _Optional[int] = ..., file: _Optional[str] = ...) -> None: ...
