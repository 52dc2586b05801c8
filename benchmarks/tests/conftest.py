"""Two correlated operators, counted exactly, for planners to plan."""

import numpy as np
import pytest
from papers.operators import QUERY, Operators, numbers

from keyroute.core.plan import PlanRequest
from keyroute.core.table import no_tables

ROWS = 6_000


def _operators(partitions: int) -> Operators:
    rng = np.random.default_rng(5)
    up = rng.zipf(1.4, ROWS) % 150
    down = np.where(rng.random(ROWS) < 0.9, up % 40, rng.integers(0, 40, ROWS))
    keys = numbers("up", up), numbers("down", down)
    shapes = tuple(k.shape(i, partitions) for i, k in enumerate(keys))
    return Operators(keys, tuple(k.codes for k in keys), shapes)


@pytest.fixture
def operators() -> Operators:
    return _operators(4)


@pytest.fixture
def request_of(operators: Operators) -> PlanRequest:
    nothing = no_tables(QUERY)
    half = ROWS // 2
    periods = operators.period(0, nothing, 0, half), operators.period(1, nothing, half, ROWS)
    return PlanRequest(QUERY, operators.shapes, periods, nothing)
