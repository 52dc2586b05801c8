"""The groups that a planner by slots can plan, with the rows of their sites.

Slots that mean other keys in every window, or that were not counted, cannot be planned: such groups
keep their tables as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from keyroute.core.graph import FloatArray, faded
from keyroute.core.plan import CannotPlan, PlanRequest
from keyroute.core.sites import KeySlots, SiteRows, key_slots, partitions_of, site_rows
from keyroute.core.statistics import Period
from keyroute.core.table import GroupTable, Int32Array, Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class SlotGroup:
    """A group, its table in force, and the rows of that table's sites (S + E,)."""

    table: GroupTable
    rows: FloatArray
    key_slots: KeySlots

    @property
    def home(self) -> Int32Array:
        """Partition of each site by the table in force."""
        return partitions_of(self.table)

    @property
    def entry_slots(self) -> Int64Array:
        """Slot of each entry's key (E,), -1 where it is not known."""
        return self.key_slots.find(self.table.fingerprints)

    def moved(self, partitions: Int32Array) -> GroupTable:
        """The table with another partition for each site.

        The entry of a key that moves to where its slot is then is not needed any more.
        """
        shape = self.table.shape
        owners, targets = partitions[: shape.slots], partitions[shape.slots :]
        slots = self.entry_slots
        at_slot = (slots >= 0) & (targets == owners[slots])
        kept = ~(at_slot & (targets != self.table.targets))
        return GroupTable(shape, self.table.fingerprints[kept], targets[kept], owners)


@dataclass(frozen=True, slots=True, eq=False)
class SlotGroups:
    """Groups to plan, tables of those that stay as they are, and what is to be said of the latter.

    `note` is empty or begins with "; ".
    """

    planned: tuple[SlotGroup, ...]
    kept: tuple[GroupTable, ...]
    note: str


def slot_groups(
    request: PlanRequest, periods: Sequence[Period], weights: Sequence[float]
) -> SlotGroups:
    """The request's groups, whose rows are those of some periods, each times its weight.

    Raises `CannotPlan` where no group is left.
    """
    planned, kept, notes = [], [], []
    for shape in sorted(request.shapes, key=lambda s: s.group):
        table = request.current.group(shape)
        rows = weighted_rows(table, periods, weights)
        if not shape.stable_slots:
            notes.append(f"group {shape.group} keeps its table: its key holds a window")
        elif rows.anywhere or not rows.rows.any():
            notes.append(f"group {shape.group} keeps its table: its slots were not counted")
        else:
            planned.append(SlotGroup(table, rows.rows, key_slots(shape.group, periods)))
            continue
        kept.append(table)
    if not planned:
        raise CannotPlan("; ".join(notes) or "there is no group to plan for")
    return SlotGroups(tuple(planned), tuple(kept), "".join(f"; {note}" for note in notes))


def weighted_rows(
    table: GroupTable, periods: Sequence[Period], weights: Sequence[float]
) -> SiteRows:
    """Rows of a table's sites over some periods, each times its weight."""
    rows: FloatArray = np.zeros(table.shape.slots + table.entries)
    anywhere = 0.0
    for period, weight in zip(periods, weights, strict=True):
        for group in period.groups:
            if group.shape.group == table.shape.group:
                counted = site_rows(table, group, period)
                rows = rows + weight * counted.rows
                anywhere += weight * counted.anywhere
    return SiteRows(rows, anywhere)


def decay(periods: Sequence[Period], half_life: float) -> list[float]:
    """Weight of each period, oldest first: the newest has 1, and it halves every half-life."""
    return [faded(age, half_life) for age in range(len(periods) - 1, -1, -1)]
