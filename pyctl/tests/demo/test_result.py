"""The demo's figures are counted from what was seen, and what they must be is looked at."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from keyroute.demo import result
from keyroute.demo.recording import Recording
from keyroute.demo.simulated import locality_after_last_table
from keyroute.v1.status_pb2 import QueryStatus

FLIGHTS = pd.DataFrame(
    {"tailnum": ["N1", "N2", None, "N1"] * 30, "route": ["A-B", "A-C", "B-C", "A-B"] * 30}
)


def _recording() -> Recording:
    """Four batches of 30 rows on two partitions, switched in batch 2."""
    status = QueryStatus(query_id="q")
    for group, name in ((1, "tailnum"), (0, "route")):
        status.groups.add(group=group, key_names=[name])
    for number, local in enumerate((10, 14, 24, 30)):
        batch = status.batches.add(batch=number, duration_ms=100 + number)
        batch.edge_rows, batch.local_rows = 30, local
        for group in (0, 1):
            batch.partition_rows.add(group=group, rows=[20, 10] if number < 2 else [16, 14])
    status.switches.add(batch=2, to_version=1, rows_moved=3, rows_seen=12, handoff_ms=7, apply_ms=2)
    recording = Recording(predicted_locality={1: 0.9})
    recording.add(status)
    return recording


def test_measured_figures_come_from_the_batches() -> None:
    figures = result.summary(_recording(), FLIGHTS, batches=4, partitions=2)
    assert figures["batches_measured"] == 4
    assert figures["measured_locality"]["before_first_table"] == pytest.approx(24 / 60)
    assert figures["measured_locality"]["after_last_table"] == pytest.approx(54 / 60)
    # No two of the pairs share a key, so that all can be kept together.
    assert figures["measured_locality"]["simulated"] == 1.0
    assert figures["imbalance"]["A"]["after_last_table"] == pytest.approx(32 / 30)
    assert figures["reconfigurations"] == [
        {
            "batch": 2,
            "version": 1,
            "rows_moved": 3,
            "state_rows": 12,
            "handoff_ms": 7,
            "apply_ms": 2,
            "predicted_locality": 0.9,
            "batch_ms": 102,
        }
    ]


def test_each_table_is_simulated_from_the_rows_before_it() -> None:
    airplane = [f"N{i % 30}" for i in range(120)]
    # From row 60 on each airplane flies another route.
    route = [f"{'early' if i < 60 else 'late'}-{i % 30}" for i in range(120)]
    flights = pd.DataFrame({"tailnum": airplane, "route": route})
    assert locality_after_last_table(flights, [], 3) is None
    known = locality_after_last_table(flights, [90], 3)
    unknown = locality_after_last_table(flights, [60], 3)
    assert known == 1.0
    assert unknown is not None
    assert unknown < 0.7


def _locality(after: float, hashed: float, simulated: float) -> dict[str, float]:
    return {"after_last_table": after, "hash_same_rows": hashed, "simulated": simulated}


def _shown(**changes: Any) -> dict[str, Any]:
    good = {
        "measured_locality": _locality(0.85, 0.33, 0.86),
        "imbalance": {
            "A": {"after_last_table": 1.05, "hash_same_rows": 1.06},
            "B": {"after_last_table": 1.03, "hash_same_rows": 1.23},
        },
        "reconfigurations": [{"version": v, "rows_moved": 5, "state_rows": 100} for v in (1, 2)],
    }
    return {**good, **changes}


def test_a_demo_that_shows_what_it_is_for_has_no_shortfall() -> None:
    assert result.shortfalls(_shown()) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"reconfigurations": []}, "0 reconfigurations"),
        (
            {
                "reconfigurations": [
                    {"version": v, "rows_moved": v, "state_rows": 99} for v in (4, 9)
                ]
            },
            "table 4 moved 4 of 99",
        ),
        ({"measured_locality": _locality(0.74, 0.2, 0.74)}, "locality 74"),
        ({"measured_locality": _locality(0.8, 0.4, 0.8)}, "2.3 times"),
        ({"measured_locality": _locality(0.8, 0.3, 0.76)}, "the simulator finds 76.0%"),
        ({"imbalance": {"A": {"after_last_table": 1.2, "hash_same_rows": 1.3}}}, "imbalance 1.2"),
        ({"imbalance": {"A": {"after_last_table": 1.08, "hash_same_rows": 1.05}}}, "1.050 of hash"),
    ],
)
def test_what_the_demo_does_not_show_is_named(changes: dict[str, Any], says: str) -> None:
    (sentence,) = result.shortfalls(_shown(**changes))
    assert says in sentence
