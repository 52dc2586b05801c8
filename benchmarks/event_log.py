"""Spark's event log, for what tasks cost: CPU time of each batch of each streaming query."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path


def settings(folder: Path) -> dict[str, str]:
    """An application's settings that make it write one plain file into the folder."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.dir": f"file://{folder}",
    }


def cpu_seconds(folder: Path) -> dict[tuple[str, int], float]:
    """CPU seconds of the tasks of each batch, by the query's id and the batch's number."""
    (events,) = (path for path in folder.iterdir() if path.is_file())
    batch_of: dict[int, tuple[str, int]] = {}
    seconds: dict[tuple[str, int], float] = defaultdict(float)
    for line in events.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerJobStart":
            of = event["Properties"]
            batch = (of.get("sql.streaming.queryId", ""), int(of.get("streaming.sql.batchId", -1)))
            batch_of.update(dict.fromkeys(event["Stage IDs"], batch))
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in batch_of:
            # A task that was killed may have no metrics.
            cpu = event.get("Task Metrics", {}).get("Executor CPU Time", 0)
            seconds[batch_of[event["Stage ID"]]] += cpu / 1e9
    return seconds
