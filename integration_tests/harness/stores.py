"""How queries keep their state: a provider, a checkpoint format, changelog checkpointing."""

from __future__ import annotations

from pyspark.sql import SparkSession

_STATE = "org.apache.spark.sql.keyroute.state."
_ROCKSDB = {"provider": _STATE + "RoutedRocksDBStateStoreProvider"}
STORES = {
    "rocksdb-1-changelog": {**_ROCKSDB, "format": "1", "changelog": "true"},
    "rocksdb-1": {**_ROCKSDB, "format": "1", "changelog": "false"},
    "rocksdb-2-changelog": {**_ROCKSDB, "format": "2", "changelog": "true"},
    "rocksdb-2": {**_ROCKSDB, "format": "2", "changelog": "false"},
    "hdfs": {
        "provider": _STATE + "RoutedHDFSBackedStateStoreProvider",
        "format": "1",
        "changelog": "false",
    },
}
_KEYS = {
    "provider": "spark.sql.streaming.stateStore.providerClass",
    "format": "spark.sql.streaming.stateStore.checkpointFormatVersion",
    "changelog": "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
}


_PLAIN = {
    "RoutedRocksDBStateStoreProvider": "RocksDBStateStoreProvider",
    "RoutedHDFSBackedStateStoreProvider": "HDFSBackedStateStoreProvider",
}


def use(spark: SparkSession, store: str, plain: bool = False) -> None:
    """Sets the state store of the queries that start from now on: KeyRoute's, or Spark's own."""
    for name, value in STORES[store].items():
        spark.conf.set(_KEYS[name], _spark_own(value) if plain else value)


def _spark_own(value: str) -> str:
    name = _PLAIN.get(value.rpartition(".")[2])
    return value if name is None else f"org.apache.spark.sql.execution.streaming.state.{name}"
