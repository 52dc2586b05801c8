"""Somebody's query: counts the different keys of each group. Plain PySpark for spark-submit.

    spark-submit pairs.py INPUT OUTPUT CHECKPOINT

Each batch is one JSON file in OUTPUT: the groups whose count has changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession


def main() -> None:
    source, output, checkpoint = sys.argv[1:]
    out = Path(output)
    out.mkdir(exist_ok=True)
    spark = SparkSession.builder.appName("pairs").getOrCreate()
    rows = spark.readStream.schema("k string, g string").option("maxFilesPerTrigger", 1)
    counts = rows.json(source).dropDuplicates(["k", "g"]).groupBy("g").count()

    def write(frame: DataFrame, batch: int) -> None:
        part = out / f".{batch}"
        part.write_text(json.dumps([list(row) for row in frame.collect()]))
        part.rename(out / f"{batch}.json")

    writer = counts.writeStream.queryName("pairs").outputMode("update").foreachBatch(write)
    writer.option("checkpointLocation", checkpoint).start().awaitTermination()


if __name__ == "__main__":
    main()
