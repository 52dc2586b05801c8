"""Compares what the demo's sink saw with a batch computation over the same flights."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

# Key and running totals of the two operators, as examples/airline.py writes them.
_OPERATORS = (
    ("tailnum", "airplane_flights", "airplane_delay"),
    ("route", "route_flights", "route_delay"),
)
_MISSING_KEY = "(missing)"


def read_sink(folder: Path) -> pd.DataFrame:
    """All rows in the sink's files: those of an attempt that failed, too, show as a difference."""
    return pq.read_table(folder).to_pandas()


def differences(sink: pd.DataFrame, flights: pd.DataFrame) -> list[str]:
    """One sentence for each thing that is not as a batch computation has it; empty: exact.

    Checked: the number of rows; that each airplane's flights, and each route's, are numbered 1 to N
    without gap or repeat; each key's total delay after its last flight.
    """
    found = []
    if len(sink) != len(flights):
        found.append(f"the sink has {len(sink)} rows, the input {len(flights)}")
    for key, number, delay in _OPERATORS:
        found += _differences_of_operator(sink, flights, key, number, delay)
    return found


def _differences_of_operator(
    sink: pd.DataFrame, flights: pd.DataFrame, key: str, number: str, delay: str
) -> list[str]:
    wanted = flights.assign(key=flights[key].fillna(_MISSING_KEY)).groupby("key")
    wanted_rows, wanted_delay = wanted.size(), wanted["delay"].sum()

    seen = sink.assign(key=sink[key].fillna(_MISSING_KEY))
    if set(seen["key"]) != set(wanted_rows.index):
        return [f"{key}: the sink has other keys than the input"]
    groups = seen.groupby("key")
    numbered = groups[number].agg(["min", "max", "nunique", "size"])
    wrong = (
        (numbered["min"] != 1)
        | (numbered["max"] != numbered["size"])
        | (numbered["nunique"] != numbered["size"])
        | (numbered["size"] != wanted_rows.reindex(numbered.index))
    )
    last = seen.loc[groups[number].idxmax()].set_index("key")[delay]
    wrong_delay = last != wanted_delay.reindex(last.index)
    return [
        f"{key}: {int(bad.sum())} of {len(bad)} keys have {what}, such as {bad.idxmax()!r}"
        for bad, what in (
            (wrong, f"a gap or repeat in {number}"),
            (wrong_delay, f"a wrong {delay}"),
        )
        if bad.any()
    ]
