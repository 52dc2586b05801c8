"""Turns KeyRoute on for a PySpark session: what `--jars` and `--conf` do, in code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from keyroute.jar import find_jar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLUGIN = "io.keyroute.spark.KeyRoutePlugin"


def configure_spark(
    builder: SparkSession.Builder,
    *,
    zookeeper: str | None = None,
    root: str | None = None,
    jar: str | None = None,
) -> SparkSession.Builder:
    """Adds KeyRoute's jar, plugin and ZooKeeper to a session's builder, and returns the builder.

    What the builder already has in `spark.jars` and `spark.plugins` stays. `zookeeper` is a connect
    string as host:2181,host:2181; without it the application routes as Spark does until
    `spark.keyroute.zookeeper.connect` is set elsewhere. `root` is the path in ZooKeeper, /keyroute
    by default; `jar` stands in for the packaged one.

        spark = keyroute.configure_spark(SparkSession.builder, zookeeper="zk1:2181").getOrCreate()

    It must come before the application starts: plugins are read then. Raises JarMissing.
    """
    _append(builder, "spark.jars", jar or str(find_jar()))
    _append(builder, "spark.plugins", PLUGIN)
    if zookeeper is not None:
        builder.config("spark.keyroute.zookeeper.connect", zookeeper)
    if root is not None:
        builder.config("spark.keyroute.zookeeper.root", root)
    return builder


def _append(builder: SparkSession.Builder, key: str, value: str) -> None:
    # PySpark's builder has no reader for what it was given.
    options: dict[str, object] = getattr(builder, "_options", {})
    builder.config(key, _joined(str(options.get(key, "")).split(","), value))


def _joined(present: Iterable[str], value: str) -> str:
    kept = [entry.strip() for entry in present if entry.strip()]
    return ",".join(kept if value in kept else [*kept, value])
