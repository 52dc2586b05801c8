"""Random streams, random changes of tables, random faults: as Spark alone, row by row.

`make soak` goes on for as long as asked; see `differential/`.
"""

from __future__ import annotations

import itertools
import random
import sys

import pytest
from differential.bench import Bench
from differential.fixed import FIXED
from differential.scenario import Scenario, draw
from differential.soak import line, soak

_SECONDS = 300
_BATCHES = 7
_TRIALS = 2


@pytest.mark.parametrize("scenario", FIXED, ids=lambda s: f"{s.workload}, {s.store}")
def test_fixed_scenarios_are_exact(bench: Bench, scenario: Scenario) -> None:
    verdict = bench.run(scenario)
    assert not verdict.differences, line(verdict)
    assert all(verdict.moved), line(verdict)


def test_fresh_scenarios_are_exact(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    seed = random.randrange(1 << 30)
    with capsys.disabled():
        # One of several processes of tests shows only this on the terminal.
        print(f"\nfresh scenarios from seed {seed} on", file=sys.stderr, flush=True)
    scenarios = (draw(s, _BATCHES, _TRIALS) for s in itertools.count(seed))
    verdicts = list(soak(bench, scenarios, _SECONDS))
    told = "\n".join(line(v) for v in verdicts)
    assert not any(v.differences for v in verdicts), told
    assert sum(sum(v.moved) for v in verdicts) > 0, told
