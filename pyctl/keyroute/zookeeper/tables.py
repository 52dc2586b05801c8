"""Table versions in ZooKeeper: chunked, immutable, complete once `meta` is there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from keyroute.core import table_codec
from keyroute.core.table import InvalidTable, RoutingTables
from keyroute.zookeeper.errors import Damaged, TableMissing, VersionTaken
from keyroute.zookeeper.paths import Tree
from keyroute.zookeeper.payloads import TableMeta
from keyroute.zookeeper.session import Session

CHUNK_BYTES = 512 * 1024
KEPT_VERSIONS = 10


@dataclass(frozen=True, slots=True)
class TableStore:
    """Writes, reads and prunes the table versions of queries. All raise StoreError's kinds."""

    session: Session
    tree: Tree

    def numbers(self, query_id: str) -> tuple[int, ...]:
        """Numbers that are taken, ascending: those of unfinished versions too."""
        names = self.session.children(self.tree.tables(query_id))
        return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit()))

    def meta(self, query_id: str, version: int) -> TableMeta | None:
        """The version's meta; None where there is no such version or it is unfinished."""
        node = self.session.read(self.tree.table_meta(query_id, version))
        return None if node is None else TableMeta.decode(node.data)

    def list(self, query_id: str) -> tuple[TableMeta, ...]:
        """The finished versions, ascending."""
        metas = (self.meta(query_id, version) for version in self.numbers(query_id))
        return tuple(meta for meta in metas if meta is not None)

    def write(self, tables: RoutingTables, *, by: str, now_ms: int) -> TableMeta:
        """Writes a version: claims its number, then chunks, then `meta`.

        `by` must be the writer's own id. Raises VersionTaken where the number is in use.
        """
        if tables.version < 1:
            raise ValueError(f"Version {tables.version} cannot be published: they start at 1.")
        query_id, version = tables.query_id, tables.version
        data = table_codec.encode(tables)
        meta = TableMeta(
            version=version,
            hash=table_codec.content_hash(data),
            size_bytes=len(data),
            chunks=-(-len(data) // CHUNK_BYTES),
            created_ms=now_ms,
            by=by,
            entries=tables.entries,
        )
        claim = f'{{"format":1,"by":"{by}","hash":"{meta.hash}"}}'.encode()
        if not self.session.create(self.tree.table(query_id, version), claim):
            raise VersionTaken(f"Version {version} of query {query_id} exists already.")
        for index in range(meta.chunks):
            chunk = data[index * CHUNK_BYTES : (index + 1) * CHUNK_BYTES]
            self._create(self.tree.table_chunk(query_id, version, index), chunk)
        self._create(self.tree.table_meta(query_id, version), meta.encode())
        return meta

    def read(self, query_id: str, version: int) -> RoutingTables:
        """A version, checked against its hash. Raises TableMissing, Damaged."""
        return self.decode(query_id, version, self.read_bytes(query_id, version))

    def read_bytes(self, query_id: str, version: int) -> bytes:
        """The serialised version, checked against its hash. Raises TableMissing, Damaged."""
        meta = self.meta(query_id, version)
        if meta is None:
            raise TableMissing(f"Query {query_id} has no table version {version} in ZooKeeper.")
        chunks = [
            self.session.read(self.tree.table_chunk(query_id, version, index))
            for index in range(meta.chunks)
        ]
        data = b"".join(chunk.data for chunk in chunks if chunk is not None)
        if hashlib.sha256(data).hexdigest() != meta.hash:
            raise Damaged(
                f"Version {version} of query {query_id} does not match its hash: "
                "publish another version."
            )
        return data

    def prune(self, query_id: str, *, keep: Iterable[int]) -> tuple[int, ...]:
        """Removes all but the newest KEPT_VERSIONS and `keep`; the numbers removed."""
        numbers = self.numbers(query_id)
        kept = {*keep, *numbers[-KEPT_VERSIONS:]}
        removed = tuple(version for version in numbers if version not in kept)
        for version in removed:
            # Without its meta a version does not exist: readers never see half of one.
            self.session.delete_tree(self.tree.table_meta(query_id, version))
            self.session.delete_tree(self.tree.table(query_id, version))
        return removed

    @staticmethod
    def decode(query_id: str, version: int, data: bytes) -> RoutingTables:
        """Tables from bytes that were read for that query and version. Raises Damaged."""
        try:
            tables = table_codec.decode(data)
        except InvalidTable as error:
            raise Damaged(f"Version {version} of query {query_id}: {error}.") from error
        if (tables.query_id, tables.version) != (query_id, version):
            raise Damaged(
                f"Version {version} of query {query_id} holds version {tables.version} of "
                f"query {tables.query_id}."
            )
        return tables

    def _create(self, path: str, data: bytes) -> None:
        if not self.session.create(path, data):
            raise VersionTaken(f"{path} was written by another.")
