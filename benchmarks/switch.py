"""How long a switch takes: the batch that switches beside the batches around it.

One application with real ZooKeeper; a query whose state has so many rows, of which a table of moved
slots moves a share. Figures in ms, as the driver and Spark's progress have them.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from results import save

from keyroute.controller.carry import Carrier
from keyroute.controller.publish import publish
from keyroute.controller.reconfigure import Context
from keyroute.controller.snapshot import address_of, take_snapshot
from keyroute.core.table import GroupTable, RoutingTables
from keyroute.gateway.client import Py4jGateways
from keyroute.spark import configure_spark
from keyroute.zookeeper.connection import connect
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.server import ZooKeeperServer
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

_ROCKSDB = "org.apache.spark.sql.keyroute.state.RoutedRocksDBStateStoreProvider"
_PARTITIONS = 4
_BATCHES_AROUND = 5


def application(zookeeper: str, token: Path) -> SparkSession:
    """local[2], RocksDB with changelog checkpointing."""
    builder = SparkSession.builder.master("local[2]")
    conf = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "4g",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(_PARTITIONS),
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.keyroute.gateway.tokenFile": str(token),
        "spark.keyroute.handoff.timeoutMs": "120000",
    }
    for key, value in conf.items():
        builder = builder.config(key, value)
    return configure_spark(builder, zookeeper=zookeeper).getOrCreate()


def moving(version: int, snapshot: Any, share: float) -> RoutingTables:
    """A table in which that share of the slots belongs to the next partition."""
    shape = snapshot.state.meta.groups[0]
    owners = np.arange(shape.slots, dtype=np.int32) % shape.partitions
    moved = np.arange(shape.slots) < round(share * shape.slots)
    owners[moved] = (owners[moved] + 1) % shape.partitions
    none64, none32 = np.zeros(0, np.int64), np.zeros(0, np.int32)
    table = GroupTable(shape, none64, none32, owners)
    return RoutingTables(version, snapshot.state.query_id, (table,))


def measure(
    spark: SparkSession, store: Store, token: Path, keys: int, share: float
) -> dict[str, Any]:
    """One query: fills its state in the first batch, then small batches, one of which switches."""
    folder = Path(tempfile.mkdtemp(prefix="keyroute-switch-"))
    source = spark.readStream.format("rate-micro-batch").option("numPartitions", 2)
    frame = source.option("rowsPerBatch", keys).load()
    small = F.when(F.col("value") < keys, F.col("value")).otherwise(F.col("value") % 1000)
    frame = frame.where((F.col("value") < keys) | (F.col("value") % (keys // 1000) == 0))
    query = (
        frame.groupBy(small.cast("string").alias("k"))
        .count()
        .writeStream.format("noop")
        .outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .start()
    )
    try:
        wait_for_batch(query, 3)
        snapshot = take_snapshot(store, str(query.id))
        context = Context("benchmark", 0, 0.0, 60.0)
        version = publish(store, snapshot, lambda v: moving(v, snapshot, share), context)
        outcome = Carrier(store, "benchmark", threading.Event()).carry(str(query.id), version, 300)
        if not outcome.committed:
            raise SystemExit(outcome.sentence)
        wait_for_batch(query, outcome.batch + _BATCHES_AROUND)
        address = address_of(snapshot.application)
        with Py4jGateways(token).open(address) as gateway:
            status = next(q for q in gateway.status().queries if q.query_id == str(query.id))
        durations = {p["batchId"]: p["durationMs"] for p in query.recentProgress}
    finally:
        query.stop()
        shutil.rmtree(folder, ignore_errors=True)
    switch = status.switches[-1]
    around = [d["triggerExecution"] for b, d in durations.items() if b > 1 and b != outcome.batch]
    return {
        "state_rows": keys,
        "share": share,
        "rows_moved": switch.rows_moved,
        "handoff_ms": switch.handoff_ms,
        "apply_ms": switch.apply_ms,
        "switch_batch_ms": durations[outcome.batch]["triggerExecution"],
        "median_other_batch_ms": statistics.median(around),
    }


def wait_for_batch(query: Any, batch: int) -> None:
    """Until the batch is done."""
    while (query.lastProgress or {}).get("batchId", -1) < batch:
        if not query.isActive:
            raise SystemExit(str(query.exception()))
        query.awaitTermination(0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.01, 0.25])
    arguments = parser.parse_args()
    rows = []
    with ZooKeeperServer() as server, tempfile.TemporaryDirectory() as folder:
        token = Path(folder) / "token"
        spark = application(server.connect_string, token)
        store = Store(Session(connect(server.connect_string)), Tree())
        for keys in arguments.keys:
            for share in arguments.shares:
                rows.append(measure(spark, store, token, keys, share))
                print(rows[-1], flush=True)
        spark.stop()
    print(save("switch", {"switches": rows}))


if __name__ == "__main__":
    main()
