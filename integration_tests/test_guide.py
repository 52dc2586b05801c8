"""What Spark's Structured Streaming guide shows, while the tables change in every batch: as Spark
alone gives it, batch by batch. It is stress mode as a user has it, without ZooKeeper."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from guide.catalogue import EXAMPLES, REFUSED
from guide.example import BATCHES, Example
from guide.lanes import STRESS_SEED, Lanes


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lanes]:
    """Both applications, for all examples."""
    with Lanes(tmp_path_factory.mktemp("guide"), random.randrange(1 << 30)) as opened:
        yield opened


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_as_spark_alone(lanes: Lanes, example: Example) -> None:
    outcome = lanes.run(example)
    assert len(outcome.plain) >= BATCHES
    assert any(outcome.plain.values()), "it gives nothing"
    for batch, rows in sorted(outcome.plain.items()):
        assert outcome.stressed.get(batch) == rows, f"batch {batch}, {STRESS_SEED}={lanes.seed}"
    assert outcome.stressed.keys() == outcome.plain.keys()
    # In each batch, but for one that must wait until the tasks of the batch before are known.
    assert outcome.switches >= BATCHES // 2
    assert not outcome.bypassed
    assert outcome.moved
    assert all(outcome.moved.values()), outcome.moved


@pytest.mark.parametrize("example", REFUSED, ids=lambda example: example.name)
def test_what_spark_refuses(lanes: Lanes, example: Example) -> None:
    assert lanes.refusal("stressed", example) == lanes.refusal("plain", example)
