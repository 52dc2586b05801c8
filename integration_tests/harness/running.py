"""A running query whose every emitted row is kept, and the verbs of the tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from harness.eventually import eventually
from harness.feed import Feed, rows
from harness.operators import Operator, differences
from harness.random_tables import random_tables
from keyroute.controller.carry import Carrier, Outcome
from keyroute.controller.publish import publish
from keyroute.controller.reconfigure import Context
from keyroute.controller.snapshot import take_snapshot
from keyroute.core.table import RoutingTables, no_tables
from keyroute.zookeeper.store import Store

_BY = "test"


class Running:
    """One query over a feed of its own, in a folder of its own."""

    def __init__(self, spark: SparkSession, store: Store, operator: Operator, folder: Path) -> None:
        self.spark = spark
        self.store = store
        self.operator = operator
        self.feed = Feed(folder / "in")
        self.checkpoint = folder / "checkpoint"
        self.emitted: dict[int, list[Any]] = {}
        self.query: StreamingQuery | None = None

    @property
    def id(self) -> str:
        assert self.query is not None
        return str(self.query.id)

    def start(self, on_batch: Callable[[DataFrame, int], None] | None = None) -> None:
        """Starts it, or starts it again from its checkpoint."""

        def keep(frame: DataFrame, batch: int) -> None:
            if on_batch is not None:
                on_batch(frame, batch)
            self.emitted[batch] = [tuple(row) for row in frame.collect()]

        frame = self.operator.build(self.feed.stream(self.spark))
        writer = frame.writeStream.queryName(self.operator.name).outputMode(self.operator.mode)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        self.query = writer.foreachBatch(keep).start()

    def stop(self) -> None:
        assert self.query is not None
        self.query.stop()

    def run(self, batches: int) -> None:
        """Feeds so many batches and waits until all input is processed."""
        for _ in range(batches):
            self.feed.put(rows(len(self.feed.batches)))
        self.settle()

    def settle(self) -> None:
        """Waits until all input so far is processed."""
        assert self.query is not None
        self.query.processAllAvailable()

    def publish(self, seed: int | None) -> int:
        """Publishes a random table (None: the empty one); the version."""
        snapshot = eventually(
            30,
            "the query is in ZooKeeper",
            lambda: s if (s := take_snapshot(self.store, self.id)).state.meta else None,
        )
        meta = snapshot.state.meta
        assert meta is not None

        def build(version: int) -> RoutingTables:
            if seed is None:
                empty = no_tables(self.id)
                return RoutingTables(version, empty.query_id, empty.groups, empty.parts)
            return random_tables(version, self.id, meta.groups, self.feed.batches, seed)

        return publish(self.store, snapshot, build, Context(_BY, 0, 0.0, 60.0))

    def carry(self, version: int, seconds: float) -> Outcome:
        """Does the controller's steps for so long at most."""
        return Carrier(self.store, _BY, threading.Event()).carry(self.id, version, seconds)

    def switch(self, seed: int | None, most_batches: int = 12) -> Outcome:
        """Publishes and feeds batches until the change has ended."""
        version = self.publish(seed)
        for _ in range(most_batches):
            outcome = self.carry(version, 1.5)
            if outcome.ended:
                return outcome
            self.run(1)
        outcome = self.carry(version, 20)
        assert outcome.ended, f"no end after {most_batches} batches: {outcome.sentence}"
        return outcome

    def differences(self) -> list[str]:
        """What was emitted beside the batch computation of the same input; empty: exact."""
        return differences(self.operator, self.emitted, self.feed.batches)

    def route_entries(self) -> list[int]:
        """Batches that have a route entry."""
        names = (path.name for path in (self.checkpoint / "keyroute" / "routes").iterdir())
        return sorted(int(name) for name in names if name.isdigit())
