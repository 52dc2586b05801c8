"""One of the guide's examples: its inputs, batch by batch, and its query."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from harness.feed import Feed
from pyspark.sql import DataFrame, SparkSession

Rows = list[dict[str, Any]]

BATCHES = 6
_START = datetime(2026, 1, 1, 12)


@dataclass(frozen=True)
class Input:
    """A stream.

    Attributes:
        schema: as DDL.
        rows: of a batch, drawn by what is given; the same whenever they are asked for.
    """

    schema: str
    rows: Callable[[random.Random, int], Rows]

    def batches(self) -> Iterator[Rows]:
        """The rows of each batch."""
        for number in range(BATCHES):
            yield self.rows(random.Random(1000 + number), number)


@dataclass(frozen=True)
class Example:
    """A query over one stream or several, each a folder of files of which a batch takes one.

    Attributes:
        build: takes a frame for each input, by its name.
        store: where it keeps its state, one of `stores.STORES`.
        idle: whether batches without input run as well. With processing time they never end.
    """

    name: str
    mode: str
    inputs: dict[str, Input]
    build: Callable[..., DataFrame]
    store: str = "rocksdb-1-changelog"
    idle: bool = True

    def write(self, folder: Path) -> None:
        """All input."""
        for name, of in self.inputs.items():
            feed = Feed(folder / name)
            for rows in of.batches():
                feed.put(rows)

    def read(self, session: SparkSession, folder: Path) -> DataFrame:
        """The query over the input in a folder."""
        frames = {
            name: Feed(folder / name, of.schema).stream(session) for name, of in self.inputs.items()
        }
        return self.build(**frames)


def at(minutes: float) -> str:
    """A time, so long after the first batch's."""
    return (_START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%S")


def late(rng: random.Random, batch: int, minutes: float = 10) -> float:
    """Minutes of an event in a batch: out of order, some of them too late, batches so far apart."""
    early = rng.uniform(2, 5) * minutes if rng.random() < 0.08 else 0
    return batch * minutes + rng.uniform(-0.6, 0.6) * minutes - early
