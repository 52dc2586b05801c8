"""What changes between two versions of a query's tables, in entries and slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyroute.core.table import GroupTable, InvalidTable, RoutingTables, empty


@dataclass(frozen=True, slots=True)
class GroupDiff:
    """Entries and slots of one group that differ from the older to the newer table."""

    group: int
    added: int
    removed: int
    retargeted: int
    slots_moved: int

    @property
    def is_empty(self) -> bool:
        """True where both tables are equal."""
        return not (self.added or self.removed or self.retargeted or self.slots_moved)


def diff(older: RoutingTables, newer: RoutingTables) -> tuple[GroupDiff, ...]:
    """The difference for each group that either version holds, ascending by group.

    Raises `InvalidTable` where the two hold a group in different shapes.
    """
    shapes = {g.shape.group: g.shape for g in (*older.groups, *newer.groups)}
    return tuple(
        _diff_group(older.group(shape), newer.group(shape)) for _, shape in sorted(shapes.items())
    )


def diff_groups(older: GroupTable | None, newer: GroupTable) -> GroupDiff:
    """The difference of two tables of one group; None stands for the empty table."""
    before = empty(newer.shape) if older is None else older
    if before.shape != newer.shape:
        raise InvalidTable(f"group {newer.shape.group}: the two tables have different shapes")
    return _diff_group(before, newer)


def _diff_group(older: GroupTable, newer: GroupTable) -> GroupDiff:
    in_older = older.explicit(newer.fingerprints)
    kept = in_older >= 0
    return GroupDiff(
        group=newer.shape.group,
        added=int((~kept).sum()),
        removed=older.entries - int(kept.sum()),
        retargeted=int((in_older[kept] != newer.targets[kept]).sum()),
        slots_moved=int((older.owners() != newer.owners()).sum()) if _moves(older, newer) else 0,
    )


def _moves(older: GroupTable, newer: GroupTable) -> bool:
    return not (older.slot_owners is None and newer.slot_owners is None) and not np.array_equal(
        older.owners(), newer.owners()
    )
