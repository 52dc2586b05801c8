"""Tasks run elsewhere and twice: switches still happen, rows are counted once.

Spark's own event log tells that the tasks did.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from harness import event_log
from harness.application import ROOT
from harness.change import propagate
from harness.event_log import EventLog
from harness.eventually import eventually
from harness.gateways import statistics, status
from harness.killable import Killable
from harness.operators import AGGREGATE, DEDUP
from harness.standalone import standalone_cluster
from harness.tests_jar import SLOW_EXECUTOR, SLOW_FILES, SLOW_FILES_MS, find_tests_jar

from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store

_STORE = {
    # With this format a second attempt does not postpone a switch.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
# Speculation copies whatever is slower than the first to end. Without a wait for the executor that
# holds a store, handoff tasks run anywhere.
_RESTLESS = {
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "0ms",
    # Several map tasks a batch: Spark copies no task that is alone.
    "spark.sql.files.maxPartitionBytes": "8k",
    "spark.sql.files.openCostInBytes": "0",
}
_SLOW = "0"
# Each executor has two partitions and one core: the second handoff task of one that is slow waits
# for longer than Spark waits for locality, and others are free.
_SLOW_HANDOFF = {
    "spark.sql.shuffle.partitions": "6",
    "spark.locality.wait": "1s",
    SLOW_FILES_MS: "4000",
    SLOW_EXECUTOR: _SLOW,
    **SLOW_FILES,
}
_MOST_BATCHES = 8


@pytest.fixture
def events(tmp_path: Path) -> Path:
    return tmp_path / "events"


def _switch(query: Killable, seed: int) -> None:
    """Feeds batches until a random table is in force."""
    version = query.publish(seed)
    outcome = propagate(query.store, query.id, version)
    batches = 0
    while not outcome.ended and batches < _MOST_BATCHES:
        query.run(1)
        batches += 1
        outcome = query.carry(version, 0.6)
    assert outcome.committed, outcome.sentence


def test_speculative_copies_count_once(
    spark_zookeeper: ZooKeeperServer, spark_store: Store, tmp_path: Path, events: Path
) -> None:
    with standalone_cluster(tmp_path, workers=2) as master:
        conf = {"spark.master": master, **_STORE, **_RESTLESS, **event_log.settings(events)}
        # Every row goes through its exchange: what is counted does not hang on how files are cut.
        query = Killable(DEDUP, tmp_path, spark_zookeeper.connect_string, ROOT, spark_store, conf)
        query.hold("twice")
        query.start()
        try:
            query.run(1)
            query.run(1)
            for seed in (1, 2):
                _switch(query, seed)
            query.run(1)

            def counted() -> dict[str, int]:
                periods = statistics(spark_store, tmp_path / "token", query.id).periods
                return {
                    f"batches {period.first_batch} to {period.last_batch}": sum(
                        group.rows for group in period.groups
                    )
                    for period in periods
                }

            wanted = sum(len(batch) for batch in query.feed.batches)
            with suppress(AssertionError):
                eventually(30, "all are counted", lambda: sum(counted().values()) >= wanted)
            assert sum(counted().values()) == wanted, counted()
            query.finish()
        finally:
            query.kill()
    assert not query.differences()
    # In every batch at least one: its first map task ends only when a copy of it runs.
    copies = {(t.stage, t.index) for t in EventLog(events).tasks() if t.speculative}
    assert len(copies) >= len(query.feed.batches)


def test_handoff_tasks_slower_than_the_wait_for_locality(
    spark_zookeeper: ZooKeeperServer, spark_store: Store, tmp_path: Path, events: Path
) -> None:
    conf = {
        "spark.jars": find_tests_jar(),
        **_STORE,
        **_SLOW_HANDOFF,
        **event_log.settings(events),
    }
    query = Killable(AGGREGATE, tmp_path, spark_zookeeper.connect_string, ROOT, spark_store, conf)
    query.start()
    try:
        query.run(2)
        _switch(query, seed=1)
        (switch,) = status(spark_store, tmp_path / "token", query.id).switches
        query.run(1)
        query.finish()
    finally:
        query.kill()
    assert not query.differences()
    assert switch.rows_moved > 0
    assert not switch.pulled
    log = EventLog(events)
    handoff = "KeyRoute: handoff of state for batch "
    first, second = log.jobs(handoff)
    # One batch tried, and that one switched: what ran elsewhere was asked for again, alone.
    assert {first.description, second.description} == {f"{handoff}{switch.batch}"}
    assert (first.tasks, second.tasks) == (6, 1)
    assert Counter(t.executor for t in log.tasks() if t.stage in first.stages)[_SLOW] == 1
    assert [t.executor for t in log.tasks() if t.stage in second.stages] == [_SLOW]
