"""Rows whose keys go together, and a query over them that is worth a plan."""

from __future__ import annotations

from harness.operators import Batch

KEYS, GROUPS = 96, 12
ROWS = 7000
BATCHES = 6


def correlated(batch: int) -> Batch:
    """Every key has one group, so that a good table keeps nearly all rows where they are."""
    first = batch * ROWS
    return [
        {
            "k": f"k{i % KEYS}",
            "g": f"g{i % KEYS % GROUPS}",
            "v": i,
            "ts": f"2026-01-01T00:{batch % 60:02d}:00",
        }
        for i in range(first, first + ROWS)
    ]
