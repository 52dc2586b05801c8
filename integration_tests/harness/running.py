"""A running query whose every emitted row is kept, and the verbs of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from harness.change import carry, propagate, publish_random
from harness.feed import Feed, rows
from harness.operators import Batch, Operator, differences
from keyroute.controller.carry import Outcome
from keyroute.zookeeper.store import Store

_COMMIT_SEEN_S = 0.6


class Running:
    """One query over a feed of its own, in a folder of its own."""

    def __init__(
        self,
        spark: SparkSession,
        store: Store,
        operator: Operator,
        folder: Path,
        make_rows: Callable[[int], Batch] = rows,
    ) -> None:
        self.spark = spark
        self.store = store
        self.operator = operator
        self.make_rows = make_rows
        self.feed = Feed(folder / "in")
        self.checkpoint = folder / "checkpoint"
        self.emitted: dict[int, list[Any]] = {}
        self.query: StreamingQuery | None = None

    @property
    def id(self) -> str:
        assert self.query is not None
        return str(self.query.id)

    def start(
        self,
        on_batch: Callable[[DataFrame, int], None] | None = None,
        trigger: dict[str, Any] | None = None,
    ) -> None:
        """Starts it, or starts it again from its checkpoint."""

        def keep(frame: DataFrame, batch: int) -> None:
            if on_batch is not None:
                on_batch(frame, batch)
            self.emitted[batch] = [tuple(row) for row in frame.collect()]

        frame = self.operator.build(self.feed.stream(self.spark))
        writer = frame.writeStream.queryName(self.operator.name).outputMode(self.operator.mode)
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        if trigger is not None:
            writer = writer.trigger(**trigger)
        self.query = writer.foreachBatch(keep).start()

    def stop(self) -> None:
        assert self.query is not None
        self.query.stop()

    def run(self, batches: int) -> None:
        """Feeds so many batches and waits until all input is processed."""
        for _ in range(batches):
            self.feed.put(self.make_rows(len(self.feed.batches)))
        self.settle()

    def settle(self) -> None:
        """Waits until all input so far is processed."""
        assert self.query is not None
        self.query.processAllAvailable()

    def publish(self, seed: int | None) -> int:
        """Publishes a random table (None: the empty one); the version."""
        return publish_random(self.store, self.id, self.feed.batches, seed)

    def carry(self, version: int, seconds: float) -> Outcome:
        """Does the controller's steps for so long at most."""
        return carry(self.store, self.id, version, seconds)

    def switch(self, seed: int | None, most_batches: int = 12) -> Outcome:
        """Publishes and feeds batches until the change has ended."""
        return self.finish(self.publish(seed), most_batches)

    def finish(self, version: int, most_batches: int = 12) -> Outcome:
        """Feeds batches until the change to a published version has ended."""
        outcome = propagate(self.store, self.id, version)
        for _ in range(most_batches):
            if outcome.ended:
                return outcome
            self.run(1)
            # COMMIT follows the batch at once, where the batch was the one that switched.
            outcome = self.carry(version, _COMMIT_SEEN_S)
        outcome = self.carry(version, 20)
        assert outcome.ended, f"no end after {most_batches} batches: {outcome.sentence}"
        return outcome

    def differences(self) -> list[str]:
        """What was emitted beside the batch computation of the same input; empty: exact."""
        return differences(self.operator, self.emitted, self.feed.batches)
