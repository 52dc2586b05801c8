"""Parts that shall be emptied: which partitions they have, and what a plan leaves on them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from keyroute.core.plan import CannotPlan, PlanRequest
from keyroute.core.sites import partitions_of
from keyroute.core.table import GroupTable


def leaving_partitions(request: PlanRequest, partitions: int) -> NDArray[np.bool_]:
    """Which partitions (n,) are of parts that shall be emptied. Raises `CannotPlan` if all are."""
    leaving = _leaving(request, partitions)
    if leaving.all():
        raise CannotPlan("all parts shall be emptied: none is left for the load")
    return leaving


def told(request: PlanRequest, groups: Iterable[GroupTable]) -> str:
    """What a plan leaves on them, for people; empty or begins with "; ".

    Raises `CannotPlan` where there is no such part.
    """
    if not request.leaving:
        return ""
    unknown = sorted(request.leaving.difference(request.parts))
    if unknown:
        raise CannotPlan(f"there is no part {unknown[0]} that could be emptied")
    wanted = list(groups)
    left = sum(_held(request, table) for table in wanted)
    had = sum(_held(request, request.current.group(table.shape)) for table in wanted)
    if not left:
        return "; the parts to be emptied are empty"
    if left >= had:
        return f"; parts are not emptied: {left:,} slots and entries stay on those that should be"
    return f"; {left:,} of {had:,} slots and entries are still on parts to be emptied"


def _held(request: PlanRequest, table: GroupTable) -> int:
    """Slots and entries of a table on parts to be emptied."""
    leaving = _leaving(request, table.shape.partitions)
    return int(leaving[partitions_of(table)].sum())


def _leaving(request: PlanRequest, partitions: int) -> NDArray[np.bool_]:
    parts = request.current.parts or tuple(range(partitions))
    return np.array([part in request.leaving for part in parts])
