"""A Spark application that runs one query at a time, as it is told on its standard input.

    python -m differential.worker CONFIG.json

CONFIG: zookeeper (null: none), plain (whether without the jar; where it is left out: if there is no
ZooKeeper), root, token, conf (Spark's), plugin (in place of KeyRoute's; null: KeyRoute's own),
workloads (module whose ALL has the queries; where it is left out: the bench's). Each line on the
standard input is a request, JSON with `do`; each is answered by a line of JSON, `{"ok": ...}` or
`{"error": text}`:

    start   workload, store, folder    starts the query, or starts it again; its id
    set     key, value                 a setting of the queries that start from now on
    settle                             waits until all input is processed
    stop                               stops it
    through workload, store, folder    runs it over all the input there is, a file a batch
    application                        its id
    states  workload, folder           rows of the newest state, one list for each of its reads
    end                                ends the application

Where a file `fault-KIND` is in the folder, one task attempt takes it away and fails: `before` its
store is committed, at the first row that it emits, or `after`. Or it waits until a copy of it is as
far: at Python's first row (`copy-before`: Spark runs ahead of Python, so that its store may be
committed) or after the last one (`copy-after`: it is). A file `done-KIND` says that it happened.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness import cluster, stores
from pyspark import TaskContext, cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery
from pyspark.sql.types import StructField, StructType

from differential.workloads import StateRead

_COPY_S = 15
_FAULTS = "org.apache.spark.sql.keyroute.handoff.AttemptFaults"


def _fail_after(folder: str) -> None:
    """Fails where this attempt is the one to fail."""
    with suppress(FileNotFoundError):
        Path(folder, "fault-after").rename(Path(folder, "done-after"))
        raise RuntimeError("a task attempt that is to fail after it has committed")


def _copy(folder: str, when: str) -> None:
    """Waits for a copy of this attempt where this is the one to be copied; a copy tells that it is
    there. Without a copy it goes on after a while."""
    context = TaskContext.get()
    assert context is not None
    held = Path(folder, f"held-{when}-{context.partitionId()}")
    try:
        Path(folder, f"fault-{when}").rename(held)
    except FileNotFoundError:
        with suppress(FileNotFoundError):
            held.rename(Path(folder, f"done-{when}"))
        return
    end = time.monotonic() + _COPY_S
    while held.exists() and time.monotonic() < end:
        # Attempts share nothing but the folder.
        time.sleep(0.01)
    held.unlink(missing_ok=True)


def _failing(folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def pass_on(rows: Iterator[Any]) -> Iterator[Any]:
        _copy(folder, "copy-before")
        kept = list(rows)
        _fail_after(folder)
        _copy(folder, "copy-after")
        return iter(kept)

    return pass_on


class Worker:
    """The application."""

    def __init__(self, config: dict[str, Any]) -> None:
        module = importlib.import_module(config.get("workloads", "differential.workloads"))
        # With the modules beside it: what they hold travels to the tasks with the plan.
        cloudpickle.register_pickle_by_value(sys.modules[module.__name__.partition(".")[0]])
        self.workloads: dict[str, Any] = module.ALL
        self.plain: bool = config.get("plain", config["zookeeper"] is None)
        self.session: SparkSession = self._builder(config).getOrCreate()
        self.query: StreamingQuery | None = None

    def _builder(self, config: dict[str, Any]) -> SparkSession.Builder:
        conf = {"spark.sql.streaming.noDataMicroBatches.enabled": "true", **config["conf"]}
        if self.plain:
            return cluster.plain_builder(config["master"], conf)
        where = (config["zookeeper"], config["root"], Path(config["token"]))
        builder = cluster.builder(*where, extra=conf, master=config["master"])
        plugin = config["plugin"]
        return builder.config("spark.plugins", plugin) if plugin else builder

    def set(self, key: str, value: str) -> None:
        """A setting of the queries that start from now on."""
        self.session.conf.set(key, value)

    def start(self, workload: str, store: str, folder: str) -> str:
        """Starts the query."""
        self.query = self._writer(workload, store, folder).start()
        return str(self.query.id)

    def through(self, workload: str, store: str, folder: str) -> None:
        """Runs the query over all the input there is, a file of each of its streams a batch."""
        writer = self._writer(workload, store, folder).trigger(availableNow=True)
        self.query = writer.start()
        self.query.awaitTermination()

    def _writer(self, workload: str, store: str, folder: str) -> DataStreamWriter:
        stores.use(self.session, store, plain=self.plain)
        asked = self.workloads[workload]
        frame = asked.read(self.session, Path(folder))
        out = Path(folder, "out")
        out.mkdir(exist_ok=True)

        def keep(given: DataFrame, batch: int) -> None:
            sound = given.where(
                F.expr(f"java_method('{_FAULTS}', 'failBefore', '{folder}') = 'passed'")
            )
            rows = sound.select(F.to_json(F.struct("*"))).rdd.mapPartitions(_failing(folder))
            part = out / f".{batch}"
            part.write_text(json.dumps(sorted(row[0] for row in rows.collect())))
            part.rename(out / f"{batch}.json")

        writer = frame.writeStream.queryName(workload).outputMode(asked.mode)
        writer = writer.option("checkpointLocation", str(Path(folder, "checkpoint")))
        return writer.foreachBatch(keep)

    def settle(self) -> None:
        """Waits until all input is processed."""
        assert self.query is not None
        self.query.processAllAvailable()

    def stop(self) -> None:
        """Stops the query."""
        assert self.query is not None
        self.query.stop()

    def application(self) -> str:
        """The application's id."""
        return str(self.session.sparkContext.applicationId)

    def states(self, workload: str, folder: str) -> list[list[list[Any]]]:
        """(partition, row as JSON, hash of the key by column order) of each state row."""
        return [self._state(read, folder) for read in self.workloads[workload].states]

    def _state(self, read: StateRead, folder: str) -> list[list[Any]]:
        reader = self.session.read.format("statestore").option("operatorId", read.operator)
        frame = reader.options(**read.options).load(str(Path(folder, "checkpoint")))
        names = read.key or tuple(frame.schema["key"].dataType.fieldNames())
        key = [F.col("key").getField(name) for name in names]
        row = F.to_json(F.struct(*(_whole(f) for f in frame.schema if f.name != "partition_id")))
        prints = F.array(*(F.xxhash64(*of).cast("string") for of in _subsets(key)))
        found = frame.select("partition_id", row, F.hash(*key), prints).collect()
        return [[*r[:3], list(r[3])] for r in found]

    def end(self) -> None:
        """Ends the application."""
        self.session.stop()


def _whole(field: StructField) -> Column:
    """The column field by field: a join's values have one more than their schema tells."""
    if not isinstance(field.dataType, StructType):
        return F.col(field.name)
    names = field.dataType.fieldNames()
    return F.struct(*(F.col(field.name).getField(n).alias(n) for n in names)).alias(field.name)


def _subsets(key: list[Any]) -> list[list[Any]]:
    """All subsets of the columns but the empty one, by the number that its bits make."""
    chosen = range(1, 1 << len(key))
    return [[c for i, c in enumerate(key) if mask >> i & 1] for mask in chosen]


def main() -> None:
    worker = Worker(json.loads(Path(sys.argv[1]).read_text()))
    print(json.dumps({"ok": "ready"}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        do = request.pop("do")
        try:
            answer = {"ok": getattr(worker, do)(**request)}
        except Exception:  # The bench says which scenario it was.
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), flush=True)
        if do == "end":
            return


if __name__ == "__main__":
    main()
