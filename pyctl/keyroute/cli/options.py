"""Options that several commands share, and the store they open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli.exits import Usage
from keyroute.zookeeper.connection import DEFAULT_CONNECT, close, connect, read_credentials
from keyroute.zookeeper.errors import UNREADABLE
from keyroute.zookeeper.paths import DEFAULT_ROOT, Tree
from keyroute.zookeeper.session import Session
from keyroute.zookeeper.store import Store

ZooKeeperOption = Annotated[
    str,
    typer.Option(
        "--zookeeper", envvar="KEYROUTE_ZOOKEEPER", metavar="HOST:PORT,…", help="ZooKeeper."
    ),
]
RootOption = Annotated[
    str,
    typer.Option("--root", metavar="PATH", help="KeyRoute's root in ZooKeeper."),
]
AuthFileOption = Annotated[
    Path | None,
    typer.Option(
        "--zookeeper-auth-file",
        metavar="FILE",
        help="File with ZooKeeper's user:password, readable by its owner only.",
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(
        "--gateway-token-file",
        metavar="FILE",
        help="File with the gateway's token, readable by its owner only; else "
        "KEYROUTE_GATEWAY_TOKEN, else ~/.keyroute/<appId>.token.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY", help="Its id, its name, or the beginning of its id: the first that fits."
    ),
]

CONNECT = DEFAULT_CONNECT
ROOT = DEFAULT_ROOT


@contextmanager
def open_store(hosts: str, root: str, auth_file: Path | None) -> Iterator[Store]:
    """A connected store, closed at the end. Raises Usage, StoreError's kinds."""
    try:
        tree = Tree(root)
    except ValueError as error:
        raise Usage(f"--root: {error}") from error
    credentials = None if auth_file is None else read_credentials(auth_file)
    try:
        client = connect(hosts, credentials=credentials)
    except ValueError as error:
        raise Usage(f"--zookeeper: {hosts!r} must be HOST:PORT[,HOST:PORT…]: {error}.") from error
    try:
        yield Store(Session(client), tree)
    finally:
        close(client)


def find_query(store: Store, wanted: str) -> str:
    """The id of the query that `wanted` names: an id, a name, or the beginning of an id.

    The first of these that fits; of several with one name, the one that runs. Raises Usage where
    none or several fit.
    """
    # Any id begins with nothing: that names no query.
    ids = store.query_ids() if wanted else ()
    if wanted in ids:
        return wanted
    fitting = [query_id for query_id in ids if _name(store, query_id) == wanted]
    if fitting:
        running = [query_id for query_id in fitting if store.query(query_id).live is not None]
        fitting = running if len(running) == 1 else fitting
    else:
        fitting = [query_id for query_id in ids if query_id.startswith(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise Usage(f"No query {wanted!r} under {store.tree.root}: `keyroute status` lists them.")
    raise Usage(f"{wanted!r} fits several queries: {', '.join(fitting)}.")


def _name(store: Store, query_id: str) -> str:
    """Its name; none where it has none, or its nodes are damaged or another user's."""
    try:
        meta = store.query(query_id).meta
    except UNREADABLE:
        return ""
    return meta.name if meta is not None else ""
