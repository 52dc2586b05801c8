"""The demo's check must find what is wrong, or its word means nothing."""

from __future__ import annotations

import pandas as pd
import pytest

from keyroute.demo.exactness import differences

FLIGHTS = pd.DataFrame(
    [("N1", "A-B", 3), (None, "A-B", -1), ("N1", "A-C", 5), (None, "A-C", 0), ("N1", "A-B", 2)],
    columns=["tailnum", "route", "delay"],
)


def _sink() -> pd.DataFrame:
    """What a correct query writes: each row with the running totals of its two keys."""
    sink = FLIGHTS.copy()
    for key, number, delay in (
        ("tailnum", "airplane_flights", "airplane_delay"),
        ("route", "route_flights", "route_delay"),
    ):
        groups = sink.groupby(key, dropna=False)
        sink[number] = groups.cumcount() + 1
        sink[delay] = groups["delay"].cumsum()
    return sink


def test_the_order_of_rows_and_a_missing_key_make_no_difference() -> None:
    assert differences(_sink().sample(frac=1, random_state=1), FLIGHTS) == []


def test_a_lost_row_and_a_doubled_row_are_found() -> None:
    assert any("has 4 rows" in said for said in differences(_sink().drop(index=1), FLIGHTS))
    doubled = pd.concat([_sink().drop(index=1), _sink().loc[[0]]])
    assert any("gap or repeat" in said for said in differences(doubled, FLIGHTS))


@pytest.mark.parametrize("column", ["airplane_flights", "route_flights"])
def test_a_key_that_begins_anew_is_found(column: str) -> None:
    sink = _sink()
    sink.loc[4, column] = 1
    assert any(f"gap or repeat in {column}" in said for said in differences(sink, FLIGHTS))


@pytest.mark.parametrize("column", ["airplane_delay", "route_delay"])
def test_a_wrong_total_is_found(column: str) -> None:
    sink = _sink()
    sink.loc[4, column] += 1
    assert any(f"wrong {column}" in said for said in differences(sink, FLIGHTS))


def test_a_key_of_nobody_is_found() -> None:
    sink = _sink()
    sink.loc[1, "tailnum"] = "N9"
    assert any("other keys" in said for said in differences(sink, FLIGHTS))
