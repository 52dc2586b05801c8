"""Partitions are spread evenly, partition i of every operator on one executor, whatever happens."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.executors import kill_an_executor
from harness.gateways import statistics
from harness.operators import CHAIN
from harness.running import Running
from harness.stores import use
from pyspark.sql import SparkSession

from keyroute.zookeeper.store import Store

_PARTITIONS, _EXECUTORS = 6, 3
_SETTING = "spark.sql.shuffle.partitions"


@pytest.fixture
def six_partitions(spark: SparkSession) -> Iterator[None]:
    before = spark.conf.get(_SETTING)
    spark.conf.set(_SETTING, str(_PARTITIONS))
    yield
    spark.conf.set(_SETTING, before)


@pytest.mark.usefixtures("six_partitions")
def test_spread_evenly_through_a_restart_and_the_loss_of_an_executor(
    spark: SparkSession, spark_store: Store, gateway_token: Path, tmp_path: Path
) -> None:
    use(spark, "rocksdb-1-changelog")
    running = Running(spark, spark_store, CHAIN, tmp_path)

    def homes() -> dict[int, dict[int, str]]:
        """Executor of each partition of each group, where it was last seen to run."""
        seen: dict[int, dict[int, str]] = {}
        for place in statistics(spark_store, gateway_token, running.id).placement:
            seen.setdefault(place.group, {})[place.partition] = place.executor
        return seen

    def require_even() -> set[str]:
        """Runs batches until all partitions lie as they must; the executors."""
        for _ in range(6):
            running.run(1)
            groups = list(homes().values())
            spread = Counter(groups[0].values()) if groups else Counter()
            share = _PARTITIONS // _EXECUTORS
            alike = all(group == groups[0] for group in groups)
            if len(groups) == 2 and alike and list(spread.values()) == [share] * _EXECUTORS:
                return set(spread)
        raise AssertionError(f"not spread evenly and alike after 6 batches: {homes()}")

    running.start()
    running.run(1)
    before = homes()
    assert {len(group) for group in before.values()} == {_PARTITIONS}
    assert len(before) == 2
    executors = require_even()
    outcome = running.switch(seed=1)
    assert outcome.committed, outcome.sentence
    running.stop()

    running.start()
    assert require_even() == executors

    kill_an_executor(os.getpid())
    running.run(1)
    after = require_even()
    assert len(after & executors) == _EXECUTORS - 1
    again = running.switch(seed=2)
    assert again.committed, again.sentence
    running.run(1)
    running.stop()
    assert not running.differences()
