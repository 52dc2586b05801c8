"""What the figures of the airline job are made of."""

import numpy as np
import pytest
from baselines.cola import plan_cola
from papers.airline import NODES, SLOTS_EACH, apart, course, job, load_distance

from keyroute.core.plan import PlanSettings


def test_load_distance_is_above_and_below_the_mean() -> None:
    assert load_distance(np.array([10.0, 12.0, 8.5, 9.5])) == pytest.approx(0.2)
    assert load_distance(np.array([10.0, 11.0, 7.5, 11.5])) == pytest.approx(0.25)


def test_the_job_begins_with_nothing_collocated_and_cola_collocates_it() -> None:
    of = job(3)
    tables = apart(of)
    first, second = of.operators.partitions(tables, 0, 5_000)[:2]
    assert (first != second).all()
    assert {s.slots for s in of.operators.shapes} == {NODES * SLOTS_EACH}
    found = course(of, plan_cola, PlanSettings(), tables)
    assert len(found["distance"]) == 2
    assert found["collocation"][0][0] > 0.9
    assert found["migrations"][0] > 100
