"""Queries that switch tables while their state stays where it is.

    python unmoved.py CONFIG.json

CONFIG: folder, operators (names), jars. The input of each operator is in FOLDER/<operator>/in, its
output goes to out/, a JSON file a batch. The switch is asked for before batch SWITCH.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness.cluster import ROCKSDB, plain_builder
from harness.feed import Feed, rows
from harness.operators import ALL, Operator
from harness.tests_jar import MIGRATION_OFF
from pyspark.sql import DataFrame, SparkSession

BATCHES, SWITCH = 4, 2


def _session(jars: str) -> SparkSession:
    conf = {
        "spark.jars": jars,
        "spark.sql.extensions": MIGRATION_OFF,
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }
    return plain_builder("local[2]", conf).getOrCreate()


def _run(session: SparkSession, operator: Operator, folder: Path) -> None:
    desk: Any = session._jvm.org.apache.spark.sql.keyroute.handoff.TestDesk
    desk.reset()
    out = folder / "out"
    out.mkdir(parents=True)

    def keep(frame: DataFrame, batch: int) -> None:
        (out / f"{batch}.json").write_text(json.dumps([list(row) for row in frame.collect()]))

    feed = Feed(folder / "in")
    writer = operator.build(feed.stream(session)).writeStream.outputMode(operator.mode)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.foreachBatch(keep).start()
    for batch in range(BATCHES):
        if batch == SWITCH:
            keys = {row[name] for fed in feed.batches for row in fed for name in ("k", "g")}
            desk.wantRandom(7, sorted(keys))
        feed.put(rows(batch))
        query.processAllAvailable()
    query.stop()
    (folder / "switches").write_text(str(desk.switches().size()))


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    session = _session(config["jars"])
    for name in config["operators"]:
        _run(session, ALL[name], Path(config["folder"]) / name)
    session.stop()


if __name__ == "__main__":
    main()
