"""A user's query in a process of its own, which blocks where a marker file says so.

    python counting.py CONFIG.json

CONFIG: operator, folder (feed in in/, one JSON file a batch in out/, checkpoint/), zookeeper, root,
token, markers (folder), conf (Spark's). It runs until the file `end` is in the folder of markers
and all input is processed. Markers that block, where they exist:

    before-<batch>   user code holds the batch before any of its tasks start
    within-<batch>   user code holds all partitions but 0, which commits
    occupy           user code holds every executor core with a job of its own
    twice            the first map task of each batch waits until a copy of it runs as well

Each writes `at-<marker>` once it blocks, and goes on when its marker is gone.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.cluster import builder
from harness.feed import Feed
from harness.operators import ALL
from pyspark import TaskContext
from pyspark.sql import DataFrame

_PAUSE_S = 0.05


def _hold(marker: str) -> None:
    """Blocks while the marker exists, and says so."""
    path = Path(marker)
    if path.exists():
        path.with_name("at-" + path.name).touch()
    while path.exists():
        time.sleep(_PAUSE_S)


def _hold_but_first(marker: str) -> Callable[[int, Iterator[Any]], Iterator[Any]]:
    def hold(partition: int, rows: Iterator[Any]) -> Iterator[Any]:
        kept = list(rows)
        if partition == 0:
            path = Path(marker)
            if path.exists():
                path.with_name("at-first-" + path.name).touch()
        else:
            _hold(marker)
        return iter(kept)

    return hold


def _run_twice(markers: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The task ends when a speculative copy of it ends, at the same moment: both have counted."""

    def wait(batches: Iterator[Any]) -> Iterator[Any]:
        kept = list(batches)
        context = TaskContext.get()
        folder = Path(markers)
        if context is not None and context.partitionId() == 0 and (folder / "twice").exists():
            task = f"twice-{context.stageId()}"
            (folder / f"{task}-{context.attemptNumber()}").touch()
            # In a Python worker, which has no harness: it looks until the other attempt is there.
            while len(list(folder.glob(f"{task}-*"))) < 2:
                time.sleep(_PAUSE_S)
        return iter(kept)

    return wait


def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text())
    folder, markers = Path(config["folder"]), Path(config["markers"])
    session = builder(
        config["zookeeper"], config["root"], Path(config["token"]), extra=config["conf"]
    ).getOrCreate()
    operator = ALL[config["operator"]]
    out = folder / "out"
    out.mkdir(exist_ok=True)

    def keep(frame: DataFrame, batch: int) -> None:
        _hold(str(markers / f"before-{batch}"))
        rows = frame.rdd.mapPartitionsWithIndex(_hold_but_first(str(markers / f"within-{batch}")))
        part = out / f".{batch}"
        part.write_text(json.dumps([list(row) for row in rows.collect()]))
        part.rename(out / f"{batch}.json")

    def occupy() -> None:
        marker = markers / "occupy"
        name = str(marker)
        while not (markers / "end").exists():
            if marker.exists():
                cores = session.sparkContext.defaultParallelism
                session.sparkContext.parallelize(range(cores), cores).foreach(lambda _: _hold(name))
            time.sleep(_PAUSE_S)

    threading.Thread(target=occupy, daemon=True).start()
    feed = Feed(folder / "in")
    frame = feed.stream(session)
    if (markers / "twice").exists():
        frame = frame.mapInArrow(_run_twice(str(markers)), frame.schema)
    query = (
        operator.build(frame)
        .writeStream.queryName(operator.name)
        .outputMode(operator.mode)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .foreachBatch(keep)
        .start()
    )
    (markers / "query-id").write_text(str(query.id))
    while not (markers / "end").exists():
        if not query.isActive:
            raise SystemExit(f"the query ended: {query.exception()}")
        time.sleep(_PAUSE_S)
    query.processAllAvailable()
    query.stop()
    session.stop()


if __name__ == "__main__":
    main()
