"""What can go wrong with ZooKeeper, in words for people.

ZooKeeperError
├── ServerError          the one-node server could not be started
└── StoreError
    ├── StoreUnreachable no answer within the deadline
    ├── StoreForbidden   the credentials are wrong or missing
    ├── Conflict         another writer was faster; read again
    ├── VersionTaken     the number of a table version is in use
    ├── TableMissing     no such version, or it was never finished
    └── Damaged          a payload cannot be read or its hash does not match
"""

from __future__ import annotations


class ZooKeeperError(Exception):
    """Root of this package's errors; its text is a sentence for people."""


class ServerError(ZooKeeperError):
    """The one-node server cannot be started or has ended."""


class StoreError(ZooKeeperError):
    """Root of the errors of reading and writing the tree."""


class StoreUnreachable(StoreError):
    """ZooKeeper did not answer in time. The operation may or may not have happened."""


class StoreForbidden(StoreError):
    """ZooKeeper refused the access: credentials are missing or wrong."""


class Conflict(StoreError):
    """A compare-and-set lost against another writer."""


class VersionTaken(StoreError):
    """A table version of this number exists already, finished or not."""


class TableMissing(StoreError):
    """The table version does not exist, or its `meta` was never written."""


class Damaged(StoreError):
    """A payload is unreadable or does not match its hash."""


UNREADABLE: tuple[type[StoreError], ...] = (Damaged, StoreForbidden)
"""What may be the matter with one query's nodes, or one application's, and not with the others'."""
