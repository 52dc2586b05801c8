"""Random streams, random changes of tables, random faults: as Spark alone, row by row.

`make soak` goes on for as long as asked; see `differential/`.
"""

from __future__ import annotations

import itertools
import random

import pytest
from differential.bench import Bench
from differential.fixed import FIXED
from differential.scenario import Scenario, draw
from differential.soak import line, soak

_SECONDS = 150
_BATCHES = 7
_TRIALS = 2


@pytest.mark.parametrize("scenario", FIXED, ids=lambda s: f"{s.workload}, {s.store}")
def test_fixed_scenarios_are_exact(bench: Bench, scenario: Scenario) -> None:
    verdict = bench.run(scenario)
    assert not verdict.differences
    assert verdict.changes == [len(trial.changes) for trial in scenario.trials]
    assert all(verdict.moved)
    # Each fault happened: a kill at a point that never came would be none.
    assert [len(faults) for faults in verdict.faults] == [len(t.faults) for t in scenario.trials]


def test_fresh_scenarios_are_exact(bench: Bench) -> None:
    seed = random.randrange(1 << 30)
    print(f"first seed: {seed}")
    scenarios = (draw(s, _BATCHES, _TRIALS) for s in itertools.count(seed))
    verdicts = list(soak(bench, scenarios, _SECONDS))
    told = "\n".join(line(v) for v in verdicts)
    print(told)
    assert not any(v.differences for v in verdicts), told
    assert sum(sum(v.moved) for v in verdicts) > 0, told
