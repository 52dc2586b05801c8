"""What is known of one query, as one file: `keyroute dump` writes it, planners run on it.

The file is the line `keyroute dump 1`, then a `Dump` (proto/keyroute/v1/dump.proto), gzipped: its
CRC tells a file that was cut off or damaged.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from keyroute.core import statistics_codec, table_codec
from keyroute.core.plan import PlanRequest, PlanSettings
from keyroute.core.statistics import QueryStatistics
from keyroute.core.statistics_codec import InvalidStatistics
from keyroute.core.table import GroupShape, InvalidTable, RoutingTables
from keyroute.core.topology import topology
from keyroute.v1 import dump_pb2

FORMAT = 1
_HEAD = re.compile(rb"keyroute dump (\d{1,9})\n")
# Fingerprints do not shrink, and the rest does at once.
_GZIP_LEVEL = 3


class InvalidDump(ValueError):
    """Bytes that are no dump, or not one that this version reads; the message says which."""


@dataclass(frozen=True, slots=True, eq=False)
class Dump:
    """Statistics, shapes of all routed groups and the tables in force (version 0: none).

    `note` is empty or says why the tables are only assumed. `by` and `created_ms` are for people.
    """

    statistics: QueryStatistics
    shapes: tuple[GroupShape, ...]
    current: RoutingTables
    note: str = ""
    by: str = ""
    created_ms: int = 0

    def request(
        self,
        settings: PlanSettings,
        executors: int = 0,
        leaving: frozenset[int] = frozenset(),
    ) -> PlanRequest:
        """What a planner is asked, as the controller would ask it."""
        seen = self.statistics
        return PlanRequest(
            query_id=seen.query_id,
            shapes=self.shapes,
            periods=seen.to_plan_from,
            current=self.current,
            executors=executors,
            placed=seen.placed,
            topology=topology(seen.placement, self.shapes, self.current.parts, executors),
            leaving=leaving,
            settings=settings,
        )


def encode(dump: Dump) -> bytes:
    """The bytes of the file; equal dumps give equal bytes."""
    message = dump_pb2.Dump(
        by=dump.by,
        created_ms=dump.created_ms,
        statistics=statistics_codec.to_proto(dump.statistics),
        shapes=[table_codec.shape_to_proto(shape) for shape in dump.shapes],
        current=table_codec.to_proto(dump.current),
        note=dump.note,
    )
    body = gzip.compress(message.SerializeToString(deterministic=True), _GZIP_LEVEL, mtime=0)
    return b"keyroute dump %d\n" % FORMAT + body


def decode(data: bytes) -> Dump:
    """A dump from the bytes of its file. Raises `InvalidDump`."""
    head = _HEAD.match(data)
    if head is None:
        raise InvalidDump("it does not begin with the line `keyroute dump 1`")
    if int(head[1]) != FORMAT:
        raise InvalidDump(f"it has format {int(head[1])}, and this version reads format {FORMAT}")
    try:
        message = dump_pb2.Dump.FromString(gzip.decompress(data[head.end() :]))
        return Dump(
            statistics=statistics_codec.from_proto(message.statistics),
            shapes=tuple(table_codec.shape_from_proto(shape) for shape in message.shapes),
            current=table_codec.from_proto(message.current),
            note=message.note,
            by=message.by,
            created_ms=message.created_ms,
        )
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidDump(f"it is cut off or damaged: {error}") from error
    except (DecodeError, InvalidStatistics, InvalidTable) as error:
        raise InvalidDump(f"it holds no usable dump: {error}") from error
