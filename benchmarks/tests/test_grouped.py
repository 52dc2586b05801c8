"""Keys are assigned as if there were no executors, and partitions grouped on those."""

from __future__ import annotations

from functools import partial

import numpy as np
from grouped import GroupedAfterwards
from planning_streams import Named, renewed

from keyroute import planners
from keyroute.core.plan import PlanRequest, between_of
from keyroute.core.table import no_tables
from keyroute.simulate.counting import Segment, count


def test_partitions_are_grouped_and_keys_lie_as_without_executors() -> None:
    (cut, *_) = Named("r", partial(renewed, 3, 0.5, periods=2, rows=3_000, keys=300), 7).cuts()
    shapes = tuple(c.shape(group, 6) for group, c in enumerate(cut.stream.columns))
    period = count(0, [Segment(cut, no_tables("q"))], shapes)
    asked = PlanRequest("q", shapes, (period,), no_tables("q"), executors=2)
    metis = planners.load("metis")
    plan = GroupedAfterwards(metis)(asked)
    assert np.bincount(plan.parts).tolist() == [3, 3]
    for table, alone in zip(
        plan.groups, metis(PlanRequest("q", shapes, (period,), no_tables("q"))).groups, strict=True
    ):
        assert table.targets.tolist() == alone.targets.tolist()
    between = between_of(GroupedAfterwards(metis))
    assert between is not None
    assert between(asked).moved_keys == 0
    assert between_of(GroupedAfterwards(planners.load("hash"))) is None
