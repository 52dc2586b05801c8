"""What the simulator says of the demo's own flights, with tables planned when the demo had them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from keyroute import planners
from keyroute.simulate.replay import Setup, replay
from keyroute.simulate.stream import Cut, KeyColumn, Stream, column


def locality_after_last_table(
    flights: pd.DataFrame, switched_at: Sequence[int], partitions: int
) -> float | None:
    """Share of the rows after the last table that it keeps local; None where there was no table.

    `switched_at` are the rows with which tables came into force. Each is planned, by the default
    planner, from the rows before it.
    """
    bounds = sorted({0, *switched_at, len(flights)})
    if len(bounds) < 3:
        return None
    stream = Stream(
        columns=(_column(flights.tailnum), _column(flights.route)),
        weights=np.ones(len(flights), np.int64),
        times=np.arange(len(flights), dtype=np.int64),
    )
    cuts = [Cut(stream, a, b) for a, b in itertools.pairwise(bounds)]
    # The controller places no keys between its plans.
    setup = Setup(planners.load(planners.DEFAULT), partitions, steps=1)
    *_, last = replay(cuts, setup)
    return last.next.locality


def _column(keys: pd.Series[str]) -> KeyColumn:
    codes, values = pd.factorize(keys, use_na_sentinel=False)
    plain = [
        None if missing else value for value, missing in zip(values, pd.isna(values), strict=True)
    ]
    return column(str(keys.name), "string", plain, codes)
