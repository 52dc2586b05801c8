"""CPU time that KeyRoute costs a query with the empty table, beside plain Spark.

Each arm is an application of its own; arms take turns for several rounds. The figure is the CPU
time of all tasks (Spark's task metrics, from the event log) of the batches after the first two.
The second plain arm shows the noise. With --chain every row goes on to a second operator, so that
pairs of keys and of slots are counted, too.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import event_log
from results import save

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARMS = {
    "plain": None,
    "plain again": None,
    "empty table, statistics off": {"spark.keyroute.statistics.enabled": "false"},
    "empty table, statistics on": {"spark.keyroute.statistics.enabled": "true"},
}
_WARM_BATCHES = 2


def stream(spark: SparkSession, rows: int, keys: int, chain: bool) -> DataFrame:
    """Drops duplicates of narrow rows, `rows` a batch."""
    from pyspark.sql import functions as F

    source = spark.readStream.format("rate-micro-batch").option("numPartitions", 2)
    source = source.option("rowsPerBatch", rows)
    frame = source.load().select((F.hash("value") % keys).cast("long").alias("k"), "value")
    # No partial aggregation below the exchange: every row is routed, and counted.
    if chain:
        # The first operator lets every row pass.
        both = frame.dropDuplicates(["k", "value"])
        frame = both.select((F.hash("k") % (keys // 10)).cast("long").alias("k"))
    return frame.select("k").dropDuplicates(["k"])


def workload(
    log: str, batches: int, rows: int, keys: int, chain: bool, conf: dict[str, str] | None
) -> None:
    """One application: batch after batch."""
    from pyspark.sql import SparkSession

    from keyroute.spark import configure_spark

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    settings = {
        **event_log.settings(Path(log)),
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "3g",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.stateStore.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        **(conf or {}),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    if conf is not None:
        builder = configure_spark(builder)
    spark = builder.getOrCreate()
    query = (
        stream(spark, rows, keys, chain)
        .writeStream.format("noop")
        .outputMode("append")
        .option("checkpointLocation", f"{log}/checkpoint")
        .start()
    )
    while (query.lastProgress or {}).get("batchId", -1) < batches - 1:
        if not query.isActive:
            raise SystemExit(str(query.exception()))
        query.awaitTermination(1)
    query.stop()
    spark.stop()


def cpu_seconds(log: Path) -> float:
    """CPU time of the tasks of the batches after the warm ones."""
    seconds = event_log.cpu_seconds(log)
    return sum(cpu for (_, batch), cpu in seconds.items() if batch >= _WARM_BATCHES)


def measure(arm: str, batches: int, rows: int, keys: int, chain: bool) -> float:
    """Runs one arm in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="keyroute-overhead-") as log:
        work = json.dumps([log, batches, rows, keys, chain, ARMS[arm]])
        subprocess.run(
            [sys.executable, __file__, "--workload", work], check=True, stderr=subprocess.DEVNULL
        )
        return cpu_seconds(Path(log))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=12)
    parser.add_argument("--rows", type=int, default=400_000, help="rows of a batch")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--chain", action="store_true", help="two operators, one after the other")
    parser.add_argument("--workload", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.workload:
        workload(*json.loads(arguments.workload))
        return
    seconds: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for round_ in range(arguments.rounds):
        for arm, measured in seconds.items():
            a = arguments
            measured.append(measure(arm, a.batches, a.rows, a.keys, a.chain))
            print(f"round {round_ + 1}: {arm}: {measured[-1]:.2f} s of CPU", flush=True)
    base = statistics.median(seconds["plain"])
    ratios = {arm: round(statistics.median(s) / base, 4) for arm, s in seconds.items()}
    for arm, ratio in ratios.items():
        print(f"{arm}: {ratio:.3f}")
    figures = {"cpu_seconds": seconds, "ratio_to_plain": ratios, "arguments": vars(arguments)}
    print(save("overhead-chain" if arguments.chain else "overhead", figures))


if __name__ == "__main__":
    main()
