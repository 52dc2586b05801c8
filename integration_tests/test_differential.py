"""Random streams, random changes of tables, random faults: as Spark alone, row by row.

`make soak` goes on for as long as asked; see `differential/`.
"""

from __future__ import annotations

import itertools
import random

from differential.bench import Bench
from differential.scenario import draw
from differential.soak import line, soak

_SECONDS = 150
_BATCHES = 7
_TRIALS = 2


def test_fresh_scenarios_are_exact(bench: Bench) -> None:
    seed = random.randrange(1 << 30)
    print(f"first seed: {seed}")
    scenarios = (draw(s, _BATCHES, _TRIALS) for s in itertools.count(seed))
    verdicts = list(soak(bench, scenarios, _SECONDS))
    told = "\n".join(line(v) for v in verdicts)
    print(told)
    assert not any(v.differences for v in verdicts), told
    assert sum(sum(v.moved) for v in verdicts) > 0, told
