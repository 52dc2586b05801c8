"""A client of a Spark Connect server: starts a query there, and says what it has given.

    python remote.py PORT FOLDER

FOLDER has the feed in in/, and gets the checkpoint in checkpoint/. The first line of the output is
the query's id. For each line of the input all of the feed is processed, and a line has the rows, as
JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from harness.feed import Feed
from harness.operators import AGGREGATE
from pyspark.sql import SparkSession

_TABLE = "totals"


def main() -> None:
    port, folder = sys.argv[1], Path(sys.argv[2])
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    frame = AGGREGATE.build(Feed(folder / "in").stream(session))
    # In memory and whole in each batch: so the client can ask for it.
    writer = frame.writeStream.outputMode("complete").format("memory").queryName(_TABLE)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    print(query.id, flush=True)
    for _ in sys.stdin:
        query.processAllAvailable()
        rows = [list(row) for row in session.table(_TABLE).collect()]
        print(json.dumps(rows), flush=True)
    query.stop()


if __name__ == "__main__":
    main()
