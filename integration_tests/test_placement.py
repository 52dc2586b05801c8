"""Partitions are spread evenly, partition i of every operator on one executor, whatever happens."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness.application import ZONE
from harness.eventually import eventually
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

    def even() -> set[str]:
        """The executors, where all partitions lie as they must; else none."""
        groups = list(homes().values())
        if len(groups) != 2 or groups[0] != groups[1] or len(groups[0]) != _PARTITIONS:
            return set()
        spread = Counter(groups[0].values())
        share = _PARTITIONS // _EXECUTORS
        return set(spread) if list(spread.values()) == [share] * _EXECUTORS else set()

    def require_even(batches: int = 6) -> set[str]:
        """Runs batches until they do."""
        for _ in range(batches):
            running.run(1)
            if even():
                return even()
        raise AssertionError(f"not spread evenly and alike after {batches} batches: {homes()}")

    running.start()
    running.run(1)
    # From the first batch on; what tasks report is a moment behind them.
    executors = eventually(30, "spread evenly and alike in the first batch", even)
    seen = statistics(spark_store, gateway_token, running.id).placement
    assert {place.zone for place in seen} == {ZONE}
    outcome = running.switch(seed=1)
    assert outcome.committed, outcome.sentence
    running.stop()

    running.start()
    assert require_even() == executors

    kill_an_executor(os.getpid())
    running.run(1)
    # A successor takes its time to start; until it is there, two executors share the partitions.
    after = require_even(60)
    assert len(after & executors) == _EXECUTORS - 1
    again = running.switch(seed=2)
    assert again.committed, again.sentence
    running.run(1)
    running.stop()
    assert not running.differences()
