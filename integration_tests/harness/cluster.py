"""One Spark application with several executors and KeyRoute, for many tests."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from harness import python_operators
from harness.archives import archive
from keyroute.spark import configure_spark

ROCKSDB = "org.apache.spark.sql.keyroute.state.RoutedRocksDBStateStoreProvider"
HDFS = "org.apache.spark.sql.keyroute.state.RoutedHDFSBackedStateStoreProvider"

PARTITIONS = 4

# Tests are short: the JVMs start, and compile, with as little work as they can. Hadoop's local file
# system starts processes for each file. The first compiler alone has 48 MB for code, and Spark
# fills that.
JVM = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -Xshare:auto "
    "-Djdk.lang.Process.launchMechanism=VFORK"
)

# Less work for batches of few rows: no class is generated and compiled, and half the files are
# written. Applications that a test starts for itself, and the bench, run without, so that all is
# tested as users run it, too.
QUICK = {
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}


def jvm(conf: Mapping[str, str]) -> str:
    """Java's options for an application with these settings of Spark."""
    return f"{JVM} -XX:SharedArchiveFile={archive(conf)}"


def builder(
    zookeeper: str | None,
    root: str,
    token_file: Path,
    executors: int = 3,
    extra: dict[str, str] | None = None,
    master: str | None = None,
) -> SparkSession.Builder:
    """A builder with KeyRoute, for local-cluster where no other master is named."""
    conf = {
        "spark.keyroute.zookeeper.root": root,
        "spark.keyroute.gateway.tokenFile": str(token_file),
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        **(extra or {}),
    }
    plain = plain_builder(master or f"local-cluster[{executors},1,1100]", conf)
    return configure_spark(plain, zookeeper=zookeeper)


def plain_builder(master: str, extra: dict[str, str] | None = None) -> SparkSession.Builder:
    """A builder of Spark alone."""
    # The workers' path has no tests, so the processors travel with the plan.
    cloudpickle.register_pickle_by_value(python_operators)
    options = jvm(extra or {})
    conf = {
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
        "spark.executor.memory": "1000m",
        "spark.driver.memory": "2g",
        "spark.shuffle.readHostLocalDisk": "false",
        "spark.sql.shuffle.partitions": str(PARTITIONS),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "WARN",
        "spark.pyspark.python": sys.executable,
        "spark.pyspark.driver.python": sys.executable,
        **(extra or {}),
    }
    built = SparkSession.builder.master(master).appName("tests")
    for key, value in conf.items():
        built = built.config(key, value)
    return built
