"""Where partners change from period to period, history is no trap for the default planner."""

from __future__ import annotations

from functools import partial

import pytest
from planning import PARTS, PLANNERS, figures
from planning_streams import Named, renewed

from keyroute.simulate.replay import Setup


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_renewed_partners_cost_at_most_a_point_against_the_last_period_alone(share: float) -> None:
    load = partial(renewed, 3, share, periods=8, rows=3_000, keys=300)
    cuts = Named("renewed", load, days=7).cuts()
    reference, default = (
        figures(cuts, Setup(PLANNERS[name], PARTS), seeds=[1])["locality_next"]
        for name in ("reference", "default")
    )
    # The first plan is made of one period, by both.
    assert default >= reference - 0.01
