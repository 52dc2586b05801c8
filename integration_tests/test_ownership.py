"""`keyroute adopt` and `release`: a query of plain Spark goes on under KeyRoute, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from differential.bench import Bench
from differential.drive import outputs
from differential.events import Batch, random_batches
from differential.lane import Lane
from harness.change import carry, propagate, publish_random
from harness.commands import at, keyroute
from harness.eventually import eventually
from harness.feed import Feed

_STATES = "org.apache.spark.sql.execution.streaming.state."


class Owned:
    """A query that one lane after another goes on with."""

    def __init__(self, bench: Bench, folder: Path, workload: str, store: str) -> None:
        self.bench = bench
        self.folder = folder
        self.feed = Feed(folder / "in")
        self._query = {"workload": workload, "store": store, "folder": str(folder)}
        self.id = ""
        self._lane: Lane | None = None

    def start(self, lane: str) -> None:
        self._lane = self.bench.lanes[lane]
        self.id = self._lane.ask("start", **self._query)

    def run(self, batches: list[Batch]) -> None:
        assert self._lane is not None
        for rows in batches:
            self.feed.put(rows)
            self._lane.ask("settle")

    def stop(self) -> None:
        assert self._lane is not None
        self._lane.ask("stop")
        store = self.bench.store
        eventually(20, "the query is off", lambda: store.query(self.id).live is None)

    def switch(self, batches: list[Batch], seed: int | None) -> None:
        version = publish_random(self.bench.store, self.id, batches, seed)
        propagate(self.bench.store, self.id, version)
        self.run(batches)
        assert carry(self.bench.store, self.id, version, 20).committed

    def command(self, name: str, *options: str) -> Any:
        where = at(self.bench.zookeeper, self.bench.store.tree)
        checkpoint = str(self.folder / "checkpoint")
        return keyroute(name, checkpoint, "--json", "--quiet-seconds", "0", *where, *options)


@pytest.mark.parametrize(
    ("workload", "store", "provider"),
    [
        ("dedup-then-totals", "hdfs", "HDFSBackedStateStoreProvider"),
        ("ledger", "rocksdb-2", "RocksDBStateStoreProvider"),
    ],
)
def test_adopted_switched_and_released(
    bench: Bench, tmp_path: Path, workload: str, store: str, provider: str
) -> None:
    batches = random_batches(11, 9)
    alone = Owned(bench, tmp_path / "alone", workload, store)
    alone.start("plain")
    alone.run(batches)
    alone.stop()

    query = Owned(bench, tmp_path / "owned", workload, store)
    query.start("plain")
    query.run(batches[:2])
    query.stop()
    adopted = query.command("adopt")
    assert adopted.returncode == 0, adopted.stderr
    assert json.loads(adopted.stdout)["from"] == _STATES + provider

    query.start("changed")
    query.run(batches[2:3])
    query.switch(batches[3:4], seed=3)
    running = query.command("release")
    assert running.returncode == 1
    assert "runs: stop it first" in running.stderr
    query.stop()
    tabled = query.command("release")
    assert tabled.returncode == 1
    assert "keyroute tables reset" in tabled.stderr
    query.start("changed")
    query.run(batches[4:5])
    query.switch(batches[5:7], seed=None)
    query.run(batches[7:8])
    query.stop()
    released = query.command("release")
    assert released.returncode == 0, released.stderr
    assert json.loads(released.stdout)["to"] == _STATES + provider

    # The plain lane has no jar of KeyRoute.
    query.start("plain")
    query.run(batches[8:])
    query.stop()
    assert outputs(query.folder) == outputs(alone.folder)
