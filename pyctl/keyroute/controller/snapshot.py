"""One immutable picture of a query's world: ZooKeeper, and what the driver says where asked."""

from __future__ import annotations

from dataclasses import dataclass

from keyroute.core.statistics import QueryStatistics
from keyroute.gateway.errors import GatewayError
from keyroute.gateway.port import Address, Gateways
from keyroute.v1.status_pb2 import ApplicationStatus, QueryStatus
from keyroute.zookeeper.payloads import Application
from keyroute.zookeeper.store import QueryState, Store


@dataclass(frozen=True, slots=True)
class DriverView:
    """What the gateway says of one query. `problem` is empty or says why nothing is known."""

    status: QueryStatus | None = None
    statistics: QueryStatistics | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A query at one moment. `driver` is None where the driver was not asked."""

    state: QueryState
    application: Application | None = None
    driver: DriverView | None = None

    @property
    def label(self) -> str:
        """What people call the query: its name, else the beginning of its id."""
        name = self.state.meta.name if self.state.meta is not None else ""
        return name or self.state.query_id[:8]

    @property
    def drivers_own_version(self) -> int:
        """The version that the driver says its batches run under; 0 where it does not say."""
        if self.driver is None:
            return 0
        said = [part.table_version for part in (self.driver.status, self.driver.statistics) if part]
        return max(said, default=0)

    @property
    def waiting(self) -> str:
        """Why the driver does not switch yet, in its words; empty where it does not say."""
        if self.driver is None or self.driver.status is None:
            return ""
        return self.driver.status.waiting


def take_snapshot(store: Store, query_id: str) -> Snapshot:
    """The query as ZooKeeper has it; the driver is not asked. Raises StoreError's kinds."""
    state = store.query(query_id)
    application = None if state.live is None else store.application(state.live.app_id)
    return Snapshot(state, application)


def with_driver(snapshot: Snapshot, gateways: Gateways, *, statistics: bool) -> Snapshot:
    """The snapshot with the driver's view, whose `problem` says why where it cannot be had."""
    return Snapshot(snapshot.state, snapshot.application, _ask(snapshot, gateways, statistics))


def address_of(application: Application) -> Address:
    """Where the application's gateway listens."""
    return Address(application.app_id, application.gateway_host, application.gateway_port)


def status_of(status: ApplicationStatus, query_id: str) -> QueryStatus | None:
    """The part of the status that is about one query."""
    return next((query for query in status.queries if query.query_id == query_id), None)


def _ask(snapshot: Snapshot, gateways: Gateways, statistics: bool) -> DriverView:
    query_id = snapshot.state.query_id
    if snapshot.application is None:
        return DriverView(problem="the query is not running, or has had no batch since it started")
    if not snapshot.application.gateway_port:
        return DriverView(problem="the driver could not open its gateway: its log says why")
    try:
        with gateways.open(address_of(snapshot.application)) as gateway:
            status = status_of(gateway.status(), query_id)
            counts = gateway.statistics(query_id) if statistics else None
    except GatewayError as error:
        return DriverView(problem=str(error))
    if status is None:
        return DriverView(problem="the driver does not know the query (yet)")
    return DriverView(status, counts)
