"""Parts to be emptied: every planner says what it leaves on them, or refuses parts it knows not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute import planners
from keyroute.core.plan import CannotPlan, PlanRequest, PlanSettings
from keyroute.core.table import GroupTable, RoutingTables, no_tables

SHAPES = (streams.shape(0, 4), streams.shape(1, 4))


def ask(current: RoutingTables, *leaving: int, max_moved: float = 1.0) -> PlanRequest:
    period = streams.count(streams.correlated(1, 5_000), current, 4)
    settings = PlanSettings(max_moved=max_moved)
    return PlanRequest(
        "q", SHAPES, (period,), current, leaving=frozenset(leaving), settings=settings
    )


@pytest.mark.parametrize("name", planners.names())
def test_what_is_left_on_them_is_told(name: str) -> None:
    planned = planners.load(name)(ask(no_tables("q"), 3))
    left = sum(int((g.owners() == 3).sum() + (g.targets == 3).sum()) for g in planned.groups)
    empties = name in ("albic", "dkg")
    assert empties == (left == 0)
    if empties:
        assert planned.why.endswith("; the parts to be emptied are empty")
    elif name in ("hash", "metis"):
        assert f"; parts are not emptied: {left:,} slots and entries stay on those" in planned.why
    assert "emptied" not in planners.load(name)(ask(no_tables("q"))).why


def test_it_is_told_how_much_is_still_to_go() -> None:
    request = ask(no_tables("q"), 3, max_moved=0.1)
    planned = planners.load("albic")(request)
    left = sum(int((g.owners() == 3).sum()) for g in planned.groups)
    had = sum(int((no_tables("q").group(shape).owners() == 3).sum()) for shape in SHAPES)
    assert 0 < left < had
    assert f"; {left:,} of {had:,} slots and entries are still on parts" in planned.why


@pytest.mark.parametrize("name", planners.names())
def test_parts_that_are_not_there_are_refused(name: str) -> None:
    with pytest.raises(CannotPlan, match="no part 99 that could be emptied"):
        planners.load(name)(ask(no_tables("q"), 99))


def test_partitions_keep_their_parts_meanwhile() -> None:
    # All rows go from partition 0 to 1, or from 2 to 3, which are on different parts.
    ids = np.arange(4_000) % 40 * 2
    tables = tuple(
        GroupTable(shape, prints[order], ((np.arange(0, 80, 2) % 4 + g)[order]).astype(np.int32))
        for g, shape in enumerate(SHAPES)
        for prints in [streams.fingerprints(g, np.arange(0, 80, 2))]
        for order in [np.argsort(prints)]
    )
    current = RoutingTables(1, "q", tables, (0, 1, 0, 1))
    period = streams.count((ids, ids), current, 4)
    settings = PlanSettings(max_moved=0.0)
    request = PlanRequest("q", SHAPES, (period,), current, executors=2, settings=settings)
    autoflow = planners.load("autoflow")
    assert autoflow(request).parts in ((0, 0, 1, 1), (1, 1, 0, 0))
    assert autoflow(replace(request, leaving=frozenset({1}))).parts == (0, 1, 0, 1)
