"""Records that arrive twice: dropped for good, until the watermark, within the watermark."""

from __future__ import annotations

import random

from pyspark.sql import DataFrame

from guide.example import Example, Input, Rows, at, late


def _records(rng: random.Random, batch: int) -> Rows:
    # An id comes once in a batch: which of two records stays, and for how long, would be open.
    return [
        {"guid": f"id{guid}", "eventTime": at(round(late(rng, batch)))}
        for guid in rng.sample(range(30 * batch, 30 * batch + 90), 70)
    ]


_INPUTS = {"records": Input("guid string, eventTime timestamp", _records)}


def _for_good(records: DataFrame) -> DataFrame:
    return records.select("guid").dropDuplicates(["guid"])


def _until_watermark(records: DataFrame) -> DataFrame:
    timed = records.withWatermark("eventTime", "10 minutes")
    return timed.dropDuplicates(["guid", "eventTime"])


def _within_watermark(records: DataFrame) -> DataFrame:
    timed = records.withWatermark("eventTime", "20 minutes")
    return timed.dropDuplicatesWithinWatermark(["guid"]).select("guid")


EXAMPLES = (
    Example("duplicates-for-good", "append", _INPUTS, _for_good, "rocksdb-2-changelog"),
    Example("duplicates-until-watermark", "append", _INPUTS, _until_watermark, "hdfs"),
    Example("duplicates-within-watermark", "update", _INPUTS, _within_watermark, "rocksdb-1"),
)
