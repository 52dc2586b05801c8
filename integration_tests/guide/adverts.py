"""Advertisements that are shown and clicked: two streams, joined, and a stream with a table."""

from __future__ import annotations

import random
from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from guide.example import Example, Input, Rows, at, late

_ADS = 70


def _shown(rng: random.Random, batch: int) -> Rows:
    return [
        {"impressionAdId": f"ad{rng.randrange(_ADS)}", "impressionTime": at(late(rng, batch))}
        for _ in range(60)
    ]


def _clicked(rng: random.Random, batch: int) -> Rows:
    # Others than those that are shown, too, and up to a batch's time later.
    return [
        {
            "clickAdId": f"ad{rng.randrange(_ADS // 3, _ADS + 20)}",
            "clickTime": at(late(rng, batch) + rng.uniform(0, 10)),
        }
        for _ in range(40)
    ]


_INPUTS = {
    "impressions": Input("impressionAdId string, impressionTime timestamp", _shown),
    "clicks": Input("clickAdId string, clickTime timestamp", _clicked),
}
_ONE = {"impressions": _INPUTS["impressions"]}

_WITHIN = (
    "clickAdId = impressionAdId AND clickTime >= impressionTime AND "
    "clickTime <= impressionTime + interval 15 minutes"
)


def _timed(impressions: DataFrame, clicks: DataFrame) -> tuple[DataFrame, DataFrame]:
    return (
        impressions.withWatermark("impressionTime", "10 minutes"),
        clicks.withWatermark("clickTime", "15 minutes"),
    )


def _joined(kind: str) -> Callable[[DataFrame, DataFrame], DataFrame]:
    def build(impressions: DataFrame, clicks: DataFrame) -> DataFrame:
        shown, clicked = _timed(impressions, clicks)
        return shown.join(clicked, F.expr(_WITHIN), kind)

    return build


def _unbounded(impressions: DataFrame, clicks: DataFrame) -> DataFrame:
    return impressions.join(clicks, F.expr("clickAdId = impressionAdId"))


def _outer_unbounded(impressions: DataFrame, clicks: DataFrame) -> DataFrame:
    return impressions.join(clicks, F.expr("clickAdId = impressionAdId"), "left_outer")


def _clicks_an_hour(impressions: DataFrame, clicks: DataFrame) -> DataFrame:
    shown, clicked = _timed(impressions, clicks)
    window = F.window("clickTime", "20 minutes")
    return shown.join(clicked, F.expr(_WITHIN)).groupBy(window, "impressionAdId").count()


def _counted_by_owner(impressions: DataFrame) -> DataFrame:
    # The table holds two thirds of the advertisements.
    ads = impressions.sparkSession.range(_ADS * 2 // 3)
    owners = ads.selectExpr("concat('ad', id) as ad", "concat('owner', id % 40) as owner")
    match = F.expr("impressionAdId = ad")
    return impressions.join(owners, match, "left_outer").groupBy("owner").count()


EXAMPLES = (
    Example("join-unbounded", "append", _INPUTS, _unbounded, "rocksdb-1"),
    Example("join-inner", "append", _INPUTS, _joined("inner"), "rocksdb-2"),
    Example("join-left-outer", "append", _INPUTS, _joined("left_outer"), "hdfs"),
    Example("join-right-outer", "append", _INPUTS, _joined("right_outer"), "rocksdb-1-changelog"),
    Example("join-full-outer", "append", _INPUTS, _joined("full_outer"), "rocksdb-2-changelog"),
    Example("join-left-semi", "append", _INPUTS, _joined("left_semi"), "rocksdb-1"),
    Example("join-then-windows", "append", _INPUTS, _clicks_an_hour, "rocksdb-2"),
    Example("join-with-table", "update", _ONE, _counted_by_owner, "hdfs"),
)

# Without a watermark nothing says when a row has no partner.
REFUSED = (Example("outer-without-watermark", "append", _INPUTS, _outer_unbounded),)
