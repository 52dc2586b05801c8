"""The simulator sends a row where the running Spark and the plugin would: by Spark's hashes of its
type and nulls, and by the plugin's own reading of the table's bytes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
from harness.cluster import PARTITIONS
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from keyroute.core.table import GroupTable, RoutingTables
from keyroute.core.table_codec import encode
from keyroute.simulate.counting import targets
from keyroute.simulate.reader import read
from keyroute.simulate.stream import QUERY, cut_by_rows

_ROWS = 300


def test_simulator_and_spark_route_alike(spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    numbers = rng.integers(-40, 40, _ROWS)
    frame = pd.DataFrame(
        {
            "i": pd.array(numbers, "int32"),
            "l": numbers * 1_000_000_007,
            "s": [None if n == 3 else f"key {n}" for n in numbers],
            "d": numbers / 8 * np.where(numbers % 2, 1, -1),
            "t": [datetime(2026, 1, 1, int(n) % 24) for n in numbers],
            "b": numbers % 3 == 0,
        }
    )
    file = tmp_path / "keys.parquet"
    # Spark reads no nanoseconds.
    frame.to_parquet(file, coerce_timestamps="us")
    stream = read(str(file), list(frame.columns), None, None)
    (cut,) = cut_by_rows(stream, _ROWS)
    shapes = tuple(c.shape(i, PARTITIONS) for i, c in enumerate(stream.columns))
    groups = []
    for column, shape in zip(stream.columns, shapes, strict=True):
        prints = np.unique(column.hashes[1][::2])
        owners = rng.integers(0, PARTITIONS, shape.slots).astype(np.int32)
        to = rng.integers(0, PARTITIONS, len(prints)).astype(np.int32)
        groups.append(GroupTable(shape, prints, to, owners))
    tables = RoutingTables(1, QUERY, tuple(groups))
    by_spark = spark.read.parquet(str(file)).select(
        *(F.hash(name).alias(f"{name}_hash") for name in frame.columns),
        *(F.xxhash64(name).alias(f"{name}_print") for name in frame.columns),
    )
    seen = by_spark.toPandas()
    plugin = spark._jvm.io.keyroute.core.table.TableCodec.decode(
        encode(tables), spark._jvm.scala.Option.empty()
    )
    for index, (name, where) in enumerate(
        zip(frame.columns, targets(cut, shapes, tables), strict=True)
    ):
        routed = plugin.table(index).get()
        wanted = [
            routed.route(int(murmur), int(xx))
            for murmur, xx in zip(seen[f"{name}_hash"], seen[f"{name}_print"], strict=True)
        ]
        assert where[stream.columns[index].codes].tolist() == wanted, name
        assert len(set(wanted)) == PARTITIONS or name == "b"
