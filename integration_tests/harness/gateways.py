"""What the driver of the tests' application answers through its gateway."""

from __future__ import annotations

from pathlib import Path

from keyroute.controller.snapshot import take_snapshot
from keyroute.core.statistics import QueryStatistics
from keyroute.gateway.client import Py4jGateways
from keyroute.gateway.port import Address
from keyroute.v1.status_pb2 import QueryStatus
from keyroute.zookeeper.store import Store


def statistics(store: Store, token_file: Path, query_id: str) -> QueryStatistics:
    """The query's counts; it must run."""
    with Py4jGateways(token_file).open(_address(store, query_id)) as gateway:
        found = gateway.statistics(query_id)
    assert found is not None
    return found


def status(store: Store, token_file: Path, query_id: str) -> QueryStatus:
    """The query's status; it must run."""
    with Py4jGateways(token_file).open(_address(store, query_id)) as gateway:
        queries = {query.query_id: query for query in gateway.status().queries}
    return queries[query_id]


def rows_moved(store: Store, token_file: Path, query_id: str, version: int) -> int:
    """Rows of state that this run's switch to the version moved; the query must run."""
    switches = status(store, token_file, query_id).switches
    return {switch.to_version: switch.rows_moved for switch in switches}[version]


def _address(store: Store, query_id: str) -> Address:
    application = take_snapshot(store, query_id).application
    assert application is not None
    return Address(application.app_id, application.gateway_host, application.gateway_port)
