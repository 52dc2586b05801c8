"""What a version brings to each group of a query, in words and in JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.core.table import GroupShape, RoutingTables


@dataclass(frozen=True, slots=True)
class Brought:
    """One group: explicit entries for keys, and slots that are not where Spark's hash has them."""

    group: int
    key_columns: tuple[str, ...]
    entries: int
    slots_moved: int

    def __str__(self) -> str:
        what = []
        if self.entries:
            what.append(f"{self.entries:,} entr{'y' if self.entries == 1 else 'ies'}")
        if self.slots_moved:
            what.append(f"{self.slots_moved:,} slot{'' if self.slots_moved == 1 else 's'} moved")
        said = ", ".join(what) or "Spark's own routing"
        return f"group {self.group} (by {', '.join(self.key_columns)}): {said}"


def brought(shapes: Sequence[GroupShape], tables: RoutingTables) -> tuple[Brought, ...]:
    """Of every group of the query, also of those that the tables leave out."""
    return tuple(_of(shape, tables) for shape in shapes)


def _of(shape: GroupShape, tables: RoutingTables) -> Brought:
    table = next((t for t in tables.groups if t.shape.group == shape.group), None)
    if table is None:
        return Brought(shape.group, shape.key_names, 0, 0)
    moved = table.owners() != np.arange(shape.slots) % shape.partitions
    return Brought(shape.group, shape.key_names, table.entries, int(moved.sum()))
