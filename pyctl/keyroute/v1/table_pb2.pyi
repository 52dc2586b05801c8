from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class HashId(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HASH_ID_UNSPECIFIED: _ClassVar[HashId]
    HASH_ID_MURMUR3_XXH64: _ClassVar[HashId]
HASH_ID_UNSPECIFIED: HashId
HASH_ID_MURMUR3_XXH64: HashId

class GroupShape(_message.Message):
    __slots__ = ("group", "operators", "partitions", "slots", "routing_ordinals", "key_names", "key_types", "hash", "stable_slots")
    GROUP_FIELD_NUMBER: _ClassVar[int]
    OPERATORS_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    ROUTING_ORDINALS_FIELD_NUMBER: _ClassVar[int]
    KEY_NAMES_FIELD_NUMBER: _ClassVar[int]
    KEY_TYPES_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    STABLE_SLOTS_FIELD_NUMBER: _ClassVar[int]
    group: int
    operators: _containers.RepeatedScalarFieldContainer[int]
    partitions: int
    slots: int
    routing_ordinals: _containers.RepeatedScalarFieldContainer[int]
    key_names: _containers.RepeatedScalarFieldContainer[str]
    key_types: _containers.RepeatedScalarFieldContainer[str]
    hash: HashId
    stable_slots: bool
    def __init__(self, group: _Optional[int] = ..., operators: _Optional[_Iterable[int]] = ..., partitions: _Optional[int] = ..., slots: _Optional[int] = ..., routing_ordinals: _Optional[_Iterable[int]] = ..., key_names: _Optional[_Iterable[str]] = ..., key_types: _Optional[_Iterable[str]] = ..., hash: _Optional[_Union[HashId, str]] = ..., stable_slots: bool = ...) -> None: ...

class GroupTable(_message.Message):
    __slots__ = ("shape", "fingerprints", "targets", "slot_owners")
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINTS_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    SLOT_OWNERS_FIELD_NUMBER: _ClassVar[int]
    shape: GroupShape
    fingerprints: _containers.RepeatedScalarFieldContainer[int]
    targets: _containers.RepeatedScalarFieldContainer[int]
    slot_owners: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, shape: _Optional[_Union[GroupShape, _Mapping]] = ..., fingerprints: _Optional[_Iterable[int]] = ..., targets: _Optional[_Iterable[int]] = ..., slot_owners: _Optional[_Iterable[int]] = ...) -> None: ...

class RoutingTables(_message.Message):
    __slots__ = ("format", "version", "query_id", "groups", "parts")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    QUERY_ID_FIELD_NUMBER: _ClassVar[int]
    GROUPS_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    format: int
    version: int
    query_id: str
    groups: _containers.RepeatedCompositeFieldContainer[GroupTable]
    parts: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, format: _Optional[int] = ..., version: _Optional[int] = ..., query_id: _Optional[str] = ..., groups: _Optional[_Iterable[_Union[GroupTable, _Mapping]]] = ..., parts: _Optional[_Iterable[int]] = ...) -> None: ...
