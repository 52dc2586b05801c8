"""Starts a query again without KeyRoute's jar, and prints what Spark says.

    python plain.py FOLDER

FOLDER has the feed in in/ and the checkpoint in checkpoint/.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness.feed import Feed
from harness.operators import AGGREGATE
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession


def main() -> None:
    folder = Path(sys.argv[1])
    session = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    )
    frame = AGGREGATE.build(Feed(folder / "in").stream(session))
    writer = frame.writeStream.outputMode(AGGREGATE.mode).format("noop")
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        query.processAllAvailable()
    except StreamingQueryException as error:
        print(f"refused: {error}")
    else:
        print("went on")
    session.stop()


if __name__ == "__main__":
    main()
