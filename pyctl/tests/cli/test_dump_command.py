"""What `keyroute dump` says of a file; the command itself needs a driver."""

from __future__ import annotations

from keyroute.cli.dump import sentence

FOUND = {"file": "f", "periods": 3, "rows": 75_000, "version": 2, "labels": 0, "note": ""}


def test_a_file_without_values_is_told_in_a_sentence() -> None:
    assert sentence(FOUND) == "f: 3 periods of 75,000 rows, and the tables of version 2."


def test_values_of_keys_and_doubts_are_told() -> None:
    told = sentence({**FOUND, "labels": 1_200, "note": "the tables are assumed"})
    assert "the tables are assumed. It has the values of 1,200 keys: keep it" in told
