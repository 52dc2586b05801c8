"""What a checkpoint says of the tables that its batches were routed by."""

from __future__ import annotations

from pathlib import Path

from keyroute.core.table import RoutingTables
from keyroute.core.table_codec import decode
from keyroute.v1.route_log_pb2 import RouteEntry


def entries(checkpoint: Path) -> dict[int, RouteEntry]:
    """The route entries that are kept, by batch."""
    found = {}
    for path in (checkpoint / "keyroute" / "routes").glob("[0-9]*"):
        _, body = path.read_bytes().split(b"\n", 1)
        found[int(path.name)] = RouteEntry.FromString(body)
    return found


def tables(checkpoint: Path, entry: RouteEntry) -> RoutingTables:
    """The tables that an entry names."""
    folder = checkpoint / "keyroute" / "tables"
    (path,) = folder.glob(f"{entry.table_version}-{entry.table_hash[:12]}")
    return decode(path.read_bytes())
