"""CPU time that statistics cost a query of narrow rows.

Two copies of one query, with statistics off and on, take turns within one application, so that
both find the same machine and the same compiled code; a third copy, off again, shows the noise. The
figure is the CPU time of the tasks of a batch (from the event log). Each round has a turn of each
copy, and gives a ratio of its own; told are their median and the interval that holds 90 % of the
medians of rounds drawn anew (bootstrap).
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import event_log
import numpy as np
from overhead import stream
from results import save

ARMS = {"off": "false", "on": "true", "off again": "false"}
# Of each turn: what a query does when it starts is not what it costs.
_WARM_BATCHES = 2


def workload(folder: str, rounds: int, batches: int, rows: int, keys: int, chain: bool) -> None:
    """The application: tells of each turn (arm, query id, first and last batch) in `turns`."""
    from pyspark.sql import SparkSession

    from keyroute.spark import configure_spark

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    settings = {
        **event_log.settings(Path(folder, "events")),
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.memory": "4g",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = configure_spark(builder).getOrCreate()
    turns = []
    done = dict.fromkeys(ARMS, -1)
    # A copy finds what the one before it has left: each comes after each as often.
    orders = list(itertools.permutations(ARMS))
    for round_ in range(rounds):
        for arm in orders[round_ % len(orders)]:
            session = spark.newSession()
            session.conf.set("spark.keyroute.statistics.enabled", ARMS[arm])
            query = (
                stream(session, rows, keys, chain)
                .writeStream.format("noop")
                .outputMode("append")
                .option("checkpointLocation", f"{folder}/{arm}")
                .start()
            )
            first = done[arm] + 1
            while done[arm] < first + batches - 1:
                if not query.isActive:
                    raise SystemExit(str(query.exception()))
                query.awaitTermination(0.2)
                done[arm] = max(done[arm], (query.lastProgress or {}).get("batchId", -1))
            query.stop()
            turns.append((round_, arm, str(query.id), first + _WARM_BATCHES, done[arm]))
        print(f"round {round_ + 1} of {rounds}", flush=True)
    spark.stop()
    Path(folder, "turns").write_text(json.dumps(turns))


def of_rounds(folder: Path, rounds: int) -> dict[str, list[float]]:
    """Of each arm and round the CPU seconds of a batch, the median of its turn."""
    seconds = event_log.cpu_seconds(folder / "events")
    taken: dict[str, list[float]] = {arm: [0.0] * rounds for arm in ARMS}
    for round_, arm, query, first, last in json.loads((folder / "turns").read_text()):
        batches = [seconds[query, batch] for batch in range(first, last + 1)]
        taken[arm][round_] = float(np.median(batches))
    return taken


def ratio(above: list[float], below: list[float]) -> dict[str, float]:
    """The median of the rounds' ratios, and the interval of 90 %."""
    ratios = np.array(above) / np.array(below)
    rng = np.random.default_rng(1)
    drawn = np.median(rng.choice(ratios, (10_000, len(ratios))), axis=1)
    low, high = np.quantile(drawn, (0.05, 0.95))
    return {"median": float(np.median(ratios)), "from": float(low), "to": float(high)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--batches", type=int, default=7, help="of each turn; two are left out")
    parser.add_argument("--rows", type=int, default=300_000, help="rows of a batch")
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--chain", action="store_true", help="two operators, one after the other")
    parser.add_argument("--workload", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.workload:
        workload(*json.loads(a.workload))
        return
    with tempfile.TemporaryDirectory(prefix="keyroute-statistics-") as folder:
        Path(folder, "events").mkdir()
        work = json.dumps([folder, a.rounds, a.batches, a.rows, a.keys, a.chain])
        subprocess.run(
            [sys.executable, __file__, "--workload", work], check=True, stderr=subprocess.DEVNULL
        )
        taken = of_rounds(Path(folder), a.rounds)
    found = {
        "on / off": ratio(taken["on"], taken["off"]),
        "off again / off": ratio(taken["off again"], taken["off"]),
    }
    for name, told in found.items():
        print(f"{name}: {told['median']:.3f} ({told['from']:.3f} to {told['to']:.3f})")
    figures = {"cpu_seconds": taken, "ratio": found, "arguments": vars(a)}
    print(save("statistics-cost-chain" if a.chain else "statistics-cost", figures))


if __name__ == "__main__":
    main()
