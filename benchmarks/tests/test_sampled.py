"""What planners see of a period whose tasks sample."""

from __future__ import annotations

from functools import partial

import numpy as np
from planning_streams import Named, renewed
from sampled import Sampled

from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.statistics import Period
from keyroute.core.table import no_tables
from keyroute.simulate.counting import Segment, count


def seen(first: int) -> tuple[Period, Period]:
    """A period of 3,000 rows, and what a planner sees of it where tasks sample after `first`."""
    (cut, *_) = Named("r", partial(renewed, 3, 0.5, periods=2, rows=3_000, keys=300), 7).cuts()
    shapes = tuple(c.shape(group, 3) for group, c in enumerate(cut.stream.columns))
    period = count(0, [Segment(cut, no_tables("q"))], shapes)
    asked: list[Period] = []

    def planner(request: PlanRequest) -> Plan:
        asked.extend(request.periods)
        return None  # type: ignore[return-value]

    Sampled(planner, first)(PlanRequest("q", shapes, (period,), no_tables("q")))
    return period, asked[0]


def test_tasks_of_few_rows_show_all() -> None:
    period, sample = seen(1_500)
    for whole, shown in zip(period.groups, sample.groups, strict=True):
        found = dict(zip(shown.keys.fingerprints.tolist(), shown.keys.counts.tolist(), strict=True))
        known = dict(zip(whole.keys.fingerprints.tolist(), whole.keys.counts.tolist(), strict=True))
        assert found == known
    (whole, shown) = (period.edges[0], sample.edges[0])
    assert shown.pairs.counts.tolist() == whole.pairs.counts.tolist()
    assert shown.slot_pairs.rows.tolist() == whole.slot_pairs.rows.tolist()


def test_a_sample_has_fewer_pairs_that_stand_for_as_many_rows() -> None:
    period, sample = seen(100)
    (whole, shown) = (period.edges[0], sample.edges[0])
    assert len(shown.pairs.counts) < len(whole.pairs.counts) / 2
    assert abs(shown.pairs.rows - whole.pairs.rows) < 2 * 32
    assert shown.slot_pairs.rows.sum() == shown.pairs.rows
    # A downstream key is taken with its pair; exact slots stay.
    assert sample.groups[1].keys.rows == shown.pairs.rows
    assert np.array_equal(sample.groups[1].slot_rows, period.groups[1].slot_rows)
