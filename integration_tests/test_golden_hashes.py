"""The golden vectors of hashes are what the Spark that is tested computes."""

from __future__ import annotations

import runpy
from pathlib import Path

from pyspark.sql import SparkSession

_GOLDEN = Path(__file__).parents[1] / "proto" / "golden"
_ZONE = "spark.sql.session.timeZone"


def test_spark_computes_the_golden_hashes(spark: SparkSession) -> None:
    before = spark.conf.get(_ZONE)
    spark.conf.set(_ZONE, "UTC")
    try:
        made = runpy.run_path(str(_GOLDEN / "make_hashes.py"))["text"](spark)
    finally:
        spark.conf.set(_ZONE, before)
    assert made == (_GOLDEN / "hashes.json").read_text()
