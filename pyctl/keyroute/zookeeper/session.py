"""Reads and writes of single znodes: every call is bounded in time and retried by one rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import BadVersionError, NodeExistsError, NoNodeError, NotEmptyError

from keyroute.zookeeper.errors import Conflict
from keyroute.zookeeper.retry import FORBIDDEN, Retry, forbidden

ABSENT = -1
"""Stands for the znode version of a node that does not exist."""


@dataclass(frozen=True, slots=True)
class Node:
    """A znode's bytes and its version, which a compare-and-set names."""

    data: bytes
    version: int


@dataclass(frozen=True, slots=True)
class Session:
    """Operations on znodes.

    All raise StoreUnreachable and StoreForbidden. `answer_s` bounds one answer, the retry's
    deadline bounds an operation.
    """

    client: KazooClient
    retry: Retry = field(default_factory=Retry)
    answer_s: float = 5.0

    def read(self, path: str) -> Node | None:
        """The node; None where there is none."""
        try:
            data, stat = self._call("get", path)
        except NoNodeError:
            return None
        return Node(data, stat.version)

    def children(self, path: str) -> tuple[str, ...]:
        """Names of the children, sorted; empty where the node does not exist."""
        try:
            return tuple(sorted(self._call("get_children", path)))
        except NoNodeError:
            return ()

    def create(self, path: str, data: bytes) -> bool:
        """Makes a persistent node and its parents; False where another made it before.

        A node with these very bytes counts as ours: an earlier try may have made it.
        """
        try:
            self._call("create", path, data, makepath=True)
        except NodeExistsError:
            node = self.read(path)
            return node is not None and node.data == data
        return True

    def compare_and_set(self, path: str, data: bytes, version: int) -> int:
        """Writes if the node still has `version` (ABSENT: if there is none); the new version.

        Raises Conflict where another writer was faster. Finding these very bytes is success.
        """
        try:
            if version == ABSENT:
                self._call("create", path, data, makepath=True)
                return 0
            stat = self._call("set", path, data, version=version)
        except (BadVersionError, NodeExistsError, NoNodeError) as error:
            node = self.read(path)
            if node is not None and node.data == data and node.version > version:
                return node.version
            raise Conflict(f"{path} was changed by another writer.") from error
        new: int = stat.version
        return new

    def delete_tree(self, path: str) -> None:
        """Removes a node and all below it; done where there is none."""
        for child in self.children(path):
            self.delete_tree(f"{path}/{child}")
        try:
            self._call("delete", path)
        except NoNodeError:
            return
        except NotEmptyError as error:
            raise Conflict(f"{path} is being written by another.") from error

    def _call(self, operation: str, path: str, *arguments: Any, **keywords: Any) -> Any:
        begin = partial(getattr(self.client, f"{operation}_async"), path, *arguments, **keywords)
        try:
            return self.retry(lambda: begin().get(timeout=self.answer_s))
        except FORBIDDEN as error:
            raise forbidden(path) from error
