"""Predictions come back as written, in a bounded number, and unreadable ones are told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from keyroute.zookeeper.errors import Damaged
from keyroute.zookeeper.predictions import KEPT, PredictionRecord, Predictions

RECORD = PredictionRecord(3, 0.84, 1.04, 0.81, 1.07, 26_000, 317, 99)


def test_round_trip() -> None:
    kept = Predictions((RECORD, replace(RECORD, version=4, predicted_locality=None)))
    data = kept.encode()
    assert json.loads(data)["format"] == 1
    assert Predictions.decode(data) == kept
    assert Predictions.decode(Predictions().encode()) == Predictions()


def test_the_newest_are_kept() -> None:
    kept = Predictions()
    for version in range(KEPT + 5):
        kept = kept.with_record(replace(RECORD, version=version))
    assert [record.version for record in kept.records] == list(range(5, KEPT + 5))
    assert len(kept.encode()) < 10_000


def test_the_error_is_a_mean_of_distances() -> None:
    low = replace(RECORD, predicted_locality=0.80)
    without = replace(RECORD, realised_locality=None)
    assert Predictions((RECORD, low, without)).locality_error == pytest.approx(0.02)
    assert low.locality_error == pytest.approx(-0.01)
    assert Predictions((without,)).locality_error is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff", "holds none"),
        (b"[]", "holds none"),
        (b"{}", "holds none"),
        (b'{"records":[{"version":1}]}', "holds none"),
        (b'{"records":[1]}', "holds none"),
        (b'{"format":2,"records":[]}', "upgrade the controller"),
    ],
)
def test_damage_is_told(data: bytes, says: str) -> None:
    with pytest.raises(Damaged, match=says):
        Predictions.decode(data)
