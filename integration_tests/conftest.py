"""Fixtures of the integration tests; see `harness/`."""

from harness.application import (
    gateway_token,
    spark,
    spark_application,
    spark_store,
    spark_zookeeper,
)
from harness.zookeeper import store, stores, tree, zookeeper

__all__ = [
    "gateway_token",
    "spark",
    "spark_application",
    "spark_store",
    "spark_zookeeper",
    "store",
    "stores",
    "tree",
    "zookeeper",
]
