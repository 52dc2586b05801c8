"""Random streams: late and out-of-order events, bursts, null keys; a seed makes the same again."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

Batch = list[dict[str, Any]]

_START = datetime(2026, 1, 1)
_KEYS = 40
_GROUPS = 9
_BURST_SHARE = 0.15
_LATE_SHARE = 0.08
_NULL_SHARE = 0.02


def random_batches(seed: int, count: int) -> list[Batch]:
    """`count` batches of rows (k, g: string or null; v: 1, 2, ... over all; ts: event time)."""
    rng = random.Random(seed)
    batches: list[Batch] = []
    v = 0
    for number in range(count):
        size = rng.randint(5, 90) * (4 if rng.random() < _BURST_SHARE else 1)
        batch = []
        for _ in range(size):
            v += 1
            batch.append(_event(rng, number, v))
        batches.append(batch)
    return batches


def _event(rng: random.Random, batch: int, v: int) -> dict[str, Any]:
    # Low ranks are hot: half of the rows have a tenth of the keys.
    key = int(_KEYS * rng.random() ** 3)
    seconds = batch * 60 + rng.randint(-90, 90)
    if rng.random() < _LATE_SHARE:
        seconds -= rng.randint(120, 2400)
    return {
        "k": None if rng.random() < _NULL_SHARE else f"k{key}",
        "g": f"g{(key * 5 + rng.randint(0, 2)) % _GROUPS}",
        "v": v,
        "ts": (_START + timedelta(hours=1, seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S"),
    }
