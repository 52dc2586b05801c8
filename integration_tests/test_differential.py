"""Random streams, random changes of tables, random faults: as Spark alone, row by row.

`make soak` goes on for as long as asked; see `differential/`.
"""

from __future__ import annotations

import random

from differential.bench import Bench
from differential.soak import fresh, line, soak
from differential.workloads import ALL

_SECONDS = 120
_BATCHES = 7


def test_fresh_scenarios_are_exact(bench: Bench) -> None:
    seed = random.randrange(1 << 30)
    print(f"first seed: {seed}")
    verdicts = list(soak(bench, fresh(seed), _SECONDS, list(ALL), _BATCHES))
    told = "\n".join(line(v) for v in verdicts)
    print(told)
    assert not any(v.differences for v in verdicts), told
    assert sum(v.moved for v in verdicts) > 0, told
