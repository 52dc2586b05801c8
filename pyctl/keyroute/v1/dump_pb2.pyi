from keyroute.v1 import statistics_pb2 as _statistics_pb2
from keyroute.v1 import table_pb2 as _table_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Dump(_message.Message):
    __slots__ = ("by", "created_ms", "statistics", "shapes", "current", "note")
    BY_FIELD_NUMBER: _ClassVar[int]
    CREATED_MS_FIELD_NUMBER: _ClassVar[int]
    STATISTICS_FIELD_NUMBER: _ClassVar[int]
    SHAPES_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    by: str
    created_ms: int
    statistics: _statistics_pb2.QueryStatistics
    shapes: _containers.RepeatedCompositeFieldContainer[_table_pb2.GroupShape]
    current: _table_pb2.RoutingTables
    note: str
    def __init__(self, by: _Optional[str] = ..., created_ms: _Optional[int] = ..., statistics: _Optional[_Union[_statistics_pb2.QueryStatistics, _Mapping]] = ..., shapes: _Optional[_Iterable[_Union[_table_pb2.GroupShape, _Mapping]]] = ..., current: _Optional[_Union[_table_pb2.RoutingTables, _Mapping]] = ..., note: _Optional[str] = ...) -> None: ...
