"""The differential bench can fail: a migration that goes wrong in one way is reported."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from differential.bench import Bench
from differential.lane import Lane
from differential.scenario import Scenario, Trial
from harness.tests_jar import MUTANT

_SWITCH = 2
_seeds = itertools.count(1)


@pytest.fixture(scope="module")
def mutant(bench: Bench) -> Iterator[Lane]:
    """The lane whose tables change, with migrations that go wrong."""
    with bench.mutated() as lane:
        yield lane


@pytest.mark.parametrize(
    ("kind", "workload", "store", "lasts"),
    [
        ("unmoved", "totals", "rocksdb-1", True),
        ("unmoved", "join-inner", "hdfs", False),  # what moved is evicted before the end
        ("without seen", "ledger", "rocksdb-2-changelog", True),
        ("elsewhere", "distinct", "hdfs", True),
    ],
)
def test_a_migration_that_goes_wrong_is_reported(
    bench: Bench, mutant: Lane, kind: str, workload: str, store: str, lasts: bool
) -> None:
    mutant.ask("set", key=MUTANT, value=kind)
    verdict = bench.run(Scenario(next(_seeds), workload, store, 5, (Trial({_SWITCH: 7}),)))
    assert verdict.changes == [1]
    assert verdict.moved[0] > 0
    # In what the query emits, from the switch on, and in its state.
    emitted = [d for d in verdict.differences if d.startswith("trial 0: rows of batch")]
    assert emitted, verdict
    assert all(int(d.split()[5].rstrip(":")) >= _SWITCH for d in emitted), emitted
    assert any("state" in d for d in verdict.differences) == lasts, verdict
    assert not any(d.startswith("empty") for d in verdict.differences), verdict
