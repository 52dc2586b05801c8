"""Input of a streaming query: JSON files that the file source takes one a batch, in order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

SCHEMA = "k string, g string, v long, ts timestamp"
_FIRST_MTIME = 1_700_000_000


class Feed:
    """A folder of JSON files; each `put` is the input of one batch."""

    def __init__(self, folder: Path, schema: str = SCHEMA) -> None:
        self.folder = folder
        self.schema = schema
        folder.mkdir(parents=True, exist_ok=True)
        self.batches: list[list[dict[str, Any]]] = []

    def put(self, rows: Iterable[dict[str, Any]]) -> None:
        """One more batch. The file appears whole, with a time after all before it."""
        self.batches.append(list(rows))
        number = len(self.batches)
        part = self.folder / f".{number:04d}"
        part.write_text("".join(json.dumps(row) + "\n" for row in self.batches[-1]))
        os.utime(part, (_FIRST_MTIME + number, _FIRST_MTIME + number))
        part.rename(self.folder / f"{number:04d}.json")

    def stream(self, spark: SparkSession) -> DataFrame:
        reader = spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.folder))

    def batch(self, spark: SparkSession) -> DataFrame:
        """The same rows as a static frame."""
        return spark.read.schema(self.schema).json(str(self.folder))


def rows(batch: int, count: int = 400, keys: int = 97, groups: int = 13) -> list[dict[str, Any]]:
    """The rows of one batch: keys that recur in every batch, times that move on by a minute."""
    first = batch * count
    return [
        {
            "k": f"k{(i * 7919) % keys}",
            "g": f"g{(i * 104729 + i // keys) % groups}",
            "v": i,
            "ts": f"2026-01-01T{(batch // 60) % 24:02d}:{batch % 60:02d}:{i % 60:02d}",
        }
        for i in range(first, first + count)
    ]
