"""Tasks run anywhere and twice: switches still happen, rows are counted once."""

from __future__ import annotations

from pathlib import Path

from harness.application import ROOT
from harness.change import propagate
from harness.eventually import eventually
from harness.gateways import statistics
from harness.killable import Killable
from harness.operators import AGGREGATE

from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.store import Store

# Without a wait for the executor that holds a store, handoff tasks leak to others, as they do where
# they take longer than the wait. Speculation copies whatever is slower than the first to end.
_RESTLESS = {
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "10ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "0ms",
    # With this format a second attempt does not postpone a switch.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
}
_MOST_BATCHES = 8


def test_switches_and_counts_once(
    spark_zookeeper: ZooKeeperServer, spark_store: Store, tmp_path: Path
) -> None:
    where = (spark_zookeeper.connect_string, ROOT, spark_store)
    query = Killable(AGGREGATE, tmp_path, *where, _RESTLESS)
    query.start()
    try:
        query.run(3)
        for seed in (1, 2):
            version = query.publish(seed)
            outcome = propagate(spark_store, query.id, version)
            batches = 0
            while not outcome.ended and batches < _MOST_BATCHES:
                query.run(1)
                batches += 1
                outcome = query.carry(version, 0.6)
            assert outcome.committed, outcome.sentence
        query.run(1)

        def counted() -> int:
            periods = statistics(spark_store, tmp_path / "token", query.id).periods
            return sum(group.rows for period in periods for group in period.groups)

        # Spark aggregates before the exchange: one row for each key of a batch goes through it.
        wanted = sum(len({row["k"] for row in batch}) for batch in query.feed.batches)
        eventually(30, "all rows are counted", lambda: counted() >= wanted)
        assert counted() == wanted
        query.finish()
    finally:
        query.kill()
    assert not query.differences()
