"""Fixtures of the integration tests; see `harness/`."""

from harness.application import (
    gateway_token,
    spark,
    spark_application,
    spark_store,
    spark_zookeeper,
    spark_zookeeper_data,
)
from harness.controllers import controllers, driver
from harness.differential import bench
from harness.zookeeper import store, stores, tree, zookeeper

__all__ = [
    "bench",
    "controllers",
    "driver",
    "gateway_token",
    "spark",
    "spark_application",
    "spark_store",
    "spark_zookeeper",
    "spark_zookeeper_data",
    "store",
    "stores",
    "tree",
    "zookeeper",
]
