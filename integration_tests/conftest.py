"""Fixtures of the integration tests; see `harness/`."""

from harness.zookeeper import store, stores, tree, zookeeper

__all__ = ["store", "stores", "tree", "zookeeper"]
