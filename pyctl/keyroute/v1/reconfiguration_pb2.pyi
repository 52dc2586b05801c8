from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PHASE_UNSPECIFIED: _ClassVar[Phase]
    PUBLISH: _ClassVar[Phase]
    PREPARE: _ClassVar[Phase]
    PROPAGATE: _ClassVar[Phase]
    MIGRATE: _ClassVar[Phase]
    COMMIT: _ClassVar[Phase]
    ABORT: _ClassVar[Phase]
PHASE_UNSPECIFIED: Phase
PUBLISH: Phase
PREPARE: Phase
PROPAGATE: Phase
MIGRATE: Phase
COMMIT: Phase
ABORT: Phase

class Reconfiguration(_message.Message):
    __slots__ = ("format", "phase", "version", "hash", "batch", "reason", "by", "updated_ms", "predicted_locality", "predicted_imbalance", "predicted_moves")
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    BATCH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    UPDATED_MS_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_LOCALITY_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_IMBALANCE_FIELD_NUMBER: _ClassVar[int]
    PREDICTED_MOVES_FIELD_NUMBER: _ClassVar[int]
    format: int
    phase: Phase
    version: int
    hash: str
    batch: int
    reason: str
    by: str
    updated_ms: int
    predicted_locality: float
    predicted_imbalance: float
    predicted_moves: int
    def __init__(self, format: _Optional[int] = ..., phase: _Optional[_Union[Phase, str]] = ..., version: _Optional[int] = ..., hash: _Optional[str] = ..., batch: _Optional[int] = ..., reason: _Optional[str] = ..., by: _Optional[str] = ..., updated_ms: _Optional[int] = ..., predicted_locality: _Optional[float] = ..., predicted_imbalance: _Optional[float] = ..., predicted_moves: _Optional[int] = ...) -> None: ...
