"""What the controller asks of a gateway; `client` is the real one, tests bring their own."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from keyroute.core.statistics import QueryStatistics
from keyroute.v1.status_pb2 import ApplicationStatus


@dataclass(frozen=True, slots=True)
class Address:
    """Where the gateway of an application listens."""

    app_id: str
    host: str
    port: int


class Gateway(Protocol):
    """A connection to one driver. Methods raise GatewayError's kinds."""

    def status(self) -> ApplicationStatus:
        """State of all queries of the application."""
        ...

    def statistics(self, query_id: str) -> QueryStatistics | None:
        """Counts of one query; None where the driver does not know it."""
        ...


class Gateways(Protocol):
    """Opens gateways."""

    def open(self, address: Address) -> AbstractContextManager[Gateway]:
        """A connection that the context closes. Raises GatewayError's kinds."""
        ...
