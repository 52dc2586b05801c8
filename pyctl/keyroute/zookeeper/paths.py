"""The ZooKeeper tree of `docs/protocol.md`."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_ROOT = "/keyroute"


@dataclass(frozen=True, slots=True)
class Tree:
    """Paths below one root, as /keyroute. The root is absolute and has no trailing slash."""

    root: str = DEFAULT_ROOT

    def __post_init__(self) -> None:
        parts = self.root.split("/")
        if parts[0] != "" or len(parts) < 2 or any(p in ("", ".", "..") for p in parts[1:]):
            raise ValueError(f"{self.root!r} is no ZooKeeper path: it must look like /keyroute.")

    @property
    def apps(self) -> str:
        """Parent of the running applications."""
        return f"{self.root}/apps"

    @property
    def queries(self) -> str:
        """Parent of the queries."""
        return f"{self.root}/queries"

    @property
    def election(self) -> str:
        """Where controllers queue for their turn."""
        return f"{self.root}/controller/election"

    def app(self, app_id: str) -> str:
        """One running application."""
        return f"{self.apps}/{app_id}"

    def query(self, query_id: str) -> str:
        """One query."""
        return f"{self.queries}/{query_id}"

    def meta(self, query_id: str) -> str:
        """What is fixed about a query."""
        return f"{self.query(query_id)}/meta"

    def live(self, query_id: str) -> str:
        """The run that is in progress."""
        return f"{self.query(query_id)}/live"

    def wanted(self, query_id: str) -> str:
        """The version the controller wants."""
        return f"{self.query(query_id)}/wanted"

    def in_force(self, query_id: str) -> str:
        """The version that batches run under."""
        return f"{self.query(query_id)}/in_force"

    def reconfiguration(self, query_id: str) -> str:
        """The change in progress, or the last one."""
        return f"{self.query(query_id)}/reconfiguration"

    def predictions(self, query_id: str) -> str:
        """What tables were published for, beside what came true."""
        return f"{self.query(query_id)}/predictions"

    def tables(self, query_id: str) -> str:
        """Parent of a query's table versions."""
        return f"{self.query(query_id)}/tables"

    def table(self, query_id: str, version: int) -> str:
        """One table version."""
        return f"{self.tables(query_id)}/{version}"

    def table_meta(self, query_id: str, version: int) -> str:
        """Written last: without it the version does not exist."""
        return f"{self.table(query_id, version)}/meta"

    def table_chunk(self, query_id: str, version: int, index: int) -> str:
        """One piece of the serialised tables."""
        return f"{self.table(query_id, version)}/chunk-{index:04d}"
