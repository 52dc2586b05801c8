"""What the controller reads and writes in ZooKeeper, as values of `payloads`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from keyroute.v1.reconfiguration_pb2 import Reconfiguration
from keyroute.zookeeper.errors import Damaged
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.payloads import (
    Application,
    InForce,
    Live,
    QueryMeta,
    Wanted,
    decode_reconfiguration,
    encode_reconfiguration,
)
from keyroute.zookeeper.predictions import Predictions
from keyroute.zookeeper.session import ABSENT, Session
from keyroute.zookeeper.tables import TableStore

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class StoredReconfiguration:
    """A reconfiguration and the znode version that the next write must name."""

    value: Reconfiguration | None
    znode_version: int = ABSENT


@dataclass(frozen=True, slots=True)
class StoredPredictions:
    """Predictions and the znode version that the next write must name."""

    value: Predictions = field(default_factory=Predictions)
    znode_version: int = ABSENT


@dataclass(frozen=True, slots=True)
class QueryState:
    """All that the tree says of one query, but for the tables' bytes. Absent nodes are None."""

    query_id: str
    meta: QueryMeta | None
    live: Live | None
    wanted: Wanted | None
    in_force: InForce | None
    reconfiguration: StoredReconfiguration
    versions: tuple[int, ...]

    def next_version(self, drivers_own: int = 0) -> int:
        """max(all versions known anywhere) + 1; `drivers_own` is the gateway's table_version."""
        known = [*self.versions, drivers_own]
        known += [node.version for node in (self.wanted, self.in_force) if node is not None]
        if self.reconfiguration.value is not None:
            known.append(self.reconfiguration.value.version)
        return max(known, default=0) + 1


class Store:
    """The tree below one root. All methods raise StoreError's kinds."""

    def __init__(self, session: Session, tree: Tree) -> None:
        self._session = session
        self.tree = tree
        self.tables = TableStore(session, tree)

    def application_ids(self) -> tuple[str, ...]:
        """Ids of the running applications, sorted."""
        return self._session.children(self.tree.apps)

    def applications(self) -> tuple[Application, ...]:
        """The running applications, by id."""
        found = (self.application(app_id) for app_id in self.application_ids())
        return tuple(application for application in found if application is not None)

    def application(self, app_id: str) -> Application | None:
        """One running application; None where it does not run."""
        return self._read(self.tree.app(app_id), Application.decode)

    def has_controller(self) -> bool:
        """Whether a controller runs, or waits for its turn."""
        return bool(self._session.children(self.tree.election))

    def query_ids(self) -> tuple[str, ...]:
        """Ids of all queries that ZooKeeper knows, running or not, sorted."""
        return self._session.children(self.tree.queries)

    def query(self, query_id: str) -> QueryState:
        """The state of one query, read node by node: writes are guarded by znode versions."""
        path = self.tree.reconfiguration(query_id)
        node = self._session.read(path)
        return QueryState(
            query_id=query_id,
            reconfiguration=(
                StoredReconfiguration(None)
                if node is None
                else StoredReconfiguration(
                    _decoded(path, node.data, decode_reconfiguration), node.version
                )
            ),
            meta=self._read(self.tree.meta(query_id), QueryMeta.decode),
            live=self._read(self.tree.live(query_id), Live.decode),
            wanted=self._read(self.tree.wanted(query_id), Wanted.decode),
            in_force=self._read(self.tree.in_force(query_id), InForce.decode),
            versions=self.tables.numbers(query_id),
        )

    def write_reconfiguration(
        self, query_id: str, value: Reconfiguration, znode_version: int
    ) -> int:
        """Compare-and-set; the new znode version. Raises Conflict."""
        path = self.tree.reconfiguration(query_id)
        return self._session.compare_and_set(path, encode_reconfiguration(value), znode_version)

    def write_wanted(self, query_id: str, value: Wanted) -> None:
        """Asks the driver for a version. Raises Conflict where another writes at the same time."""
        path = self.tree.wanted(query_id)
        node = self._session.read(path)
        if node is None:
            self._session.compare_and_set(path, value.encode(), ABSENT)
        elif Wanted.decode(node.data) != value:
            self._session.compare_and_set(path, value.encode(), node.version)

    def predictions(self, query_id: str) -> StoredPredictions:
        """What was predicted of a query, beside what came true. Raises Damaged."""
        path = self.tree.predictions(query_id)
        node = self._session.read(path)
        if node is None:
            return StoredPredictions()
        return StoredPredictions(_decoded(path, node.data, Predictions.decode), node.version)

    def write_predictions(self, query_id: str, value: Predictions, znode_version: int) -> None:
        """Compare-and-set. Raises Conflict."""
        path = self.tree.predictions(query_id)
        self._session.compare_and_set(path, value.encode(), znode_version)

    def prune(self, state: QueryState) -> tuple[int, ...]:
        """Removes old versions but those in force, wanted and in change; the numbers removed."""
        keep = [node.version for node in (state.wanted, state.in_force) if node is not None]
        if state.reconfiguration.value is not None:
            keep.append(state.reconfiguration.value.version)
        return self.tables.prune(state.query_id, keep=keep)

    def _read(self, path: str, decode: Callable[[bytes], ValueT]) -> ValueT | None:
        node = self._session.read(path)
        return None if node is None else _decoded(path, node.data, decode)


def _decoded(path: str, data: bytes, decode: Callable[[bytes], ValueT]) -> ValueT:
    try:
        return decode(data)
    except Damaged as error:
        raise Damaged(
            f"The znode {path} is damaged: delete it with ZooKeeper's shell, and a running query's "
            f"driver writes anew what is its own. {error}"
        ) from error
