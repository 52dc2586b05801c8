"""Fixtures of the integration tests; see `harness/`."""

import pytest
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

SHARED = ("spark_zookeeper", "bench", "zookeeper")
"""What is started once a process of tests, the dearest first."""


@pytest.hookimpl(tryfirst=True)  # Before the plugin that reads the groups.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is started once run in one process, and so do those of one file."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        group = next((name for name in SHARED if name in names), item.path.name)
        item.add_marker(pytest.mark.xdist_group(group))
