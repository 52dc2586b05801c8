"""Queries that run one batch and end switch too; so do those whose user code runs a batch twice."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness.change import carry, publish_tables
from harness.gateways import rows_moved
from harness.operators import AGGREGATE
from harness.random_tables import random_tables
from harness.running import Running
from harness.stores import use
from pyspark.sql import DataFrame, SparkSession

from keyroute.controller.snapshot import take_snapshot
from keyroute.zookeeper.store import Store

_MOST_RUNS = 6


def _run_to_its_end(running: Running, trigger: dict[str, bool], version: int = 0) -> bool:
    """One run over one more batch; whether the change to the version has been committed."""
    running.feed.put(running.make_rows(len(running.feed.batches)))
    running.start(trigger=trigger)
    query = running.query
    assert query is not None
    while not query.awaitTermination(0.2):
        if version:
            carry(running.store, running.id, version, 0.0)
    return bool(version) and carry(running.store, running.id, version, 2.0).committed


@pytest.mark.parametrize("trigger", [{"availableNow": True}, {"once": True}], ids=["now", "once"])
def test_one_batch_a_run_switches_by_pull(
    spark: SparkSession, spark_store: Store, tmp_path: Path, trigger: dict[str, bool]
) -> None:
    use(spark, "rocksdb-1-changelog")
    running = Running(spark, spark_store, AGGREGATE, tmp_path)
    _run_to_its_end(running, trigger)
    snapshot = take_snapshot(spark_store, running.id)
    meta = snapshot.state.meta
    assert meta is not None
    version = publish_tables(
        spark_store,
        snapshot,
        lambda v: random_tables(v, running.id, meta.groups, running.feed.batches, 1),
    )
    runs = 0
    while not _run_to_its_end(running, trigger, version):
        runs += 1
        assert runs < _MOST_RUNS, f"no switch in {_MOST_RUNS} runs"
    _run_to_its_end(running, trigger)
    assert not running.differences()


def test_several_actions_on_a_foreign_thread(
    spark: SparkSession, spark_store: Store, gateway_token: Path, tmp_path: Path
) -> None:
    use(spark, "rocksdb-2-changelog")
    running = Running(spark, spark_store, AGGREGATE, tmp_path)
    seen: dict[int, Counter[tuple[object, ...]]] = {}

    def act(frame: DataFrame, batch: int) -> None:
        rows = frame.count()
        with ThreadPoolExecutor(1) as foreign:
            collected = foreign.submit(frame.collect).result()
        assert len(collected) == rows
        seen[batch] = Counter(tuple(row) for row in collected)

    running.start(on_batch=act)
    running.run(2)
    outcome = running.switch(seed=1)
    assert outcome.committed, outcome.sentence
    assert rows_moved(spark_store, gateway_token, running.id, outcome.version) > 0
    running.run(2)
    running.stop()
    assert not running.differences()
    # Each action runs the batch's tasks again, and must see the same.
    assert seen == {batch: Counter(rows) for batch, rows in running.emitted.items()}
