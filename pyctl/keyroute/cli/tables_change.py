"""`keyroute tables apply` and `reset`: changes by hand, carried to their end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli import options
from keyroute.cli.brought import Brought, brought
from keyroute.cli.exits import Exit, Refused, Usage, sentences
from keyroute.cli.output import print_json, progress, say
from keyroute.cli.table_file import UnreadableFile, read_tables
from keyroute.controller.carry import Carrier, Outcome
from keyroute.controller.publish import publish, under_way
from keyroute.controller.reconfigure import Context
from keyroute.controller.snapshot import Snapshot, take_snapshot, with_driver
from keyroute.core.table import RoutingTables
from keyroute.gateway.client import Py4jGateways
from keyroute.v1.reconfiguration_pb2 import Phase
from keyroute.zookeeper.election import controller_id
from keyroute.zookeeper.store import Store

TimeoutOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait for the switch.")
]


def apply_file(
    query: options.QueryArgument,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True)
    ],
    timeout_s: TimeoutOption = 120.0,
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Publishes FILE as the next version and waits until the query runs under it.

    After a time-out the same command again goes on with that change.

    FILE is JSON: {"groups": {"0": {"keys": {"N12345": 2}}}}; for keys of several columns
    {"keys": [{"key": ["a", 1], "partition": 2}]}; "fingerprints" and "slotOwners" too; or a
    serialised RoutingTables. A group that FILE leaves out goes back to Spark's routing; which
    groups that is, is said. `keyroute status` shows the groups and their key columns.
    """
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        query_id = options.find_query(store, query)
        meta = store.query(query_id).meta
        if meta is None:
            raise Refused(f"Query {query_id} has not said its groups: has it run with KeyRoute?")
        try:
            tables = read_tables(file.read_bytes(), meta.groups, query_id)
        except UnreadableFile as error:
            raise Usage(f"{file}: {error}.") from error
        _change(
            store,
            query_id,
            lambda version: RoutingTables(version, query_id, tables.groups, tables.parts),
            token_file,
            timeout_s,
            as_json,
            brought(meta.groups, tables),
        )


def reset(
    query: options.QueryArgument,
    timeout_s: TimeoutOption = 120.0,
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Goes back to Spark's own routing: publishes the empty table and waits for the switch."""
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        query_id = options.find_query(store, query)
        meta = store.query(query_id).meta
        empty = RoutingTables(1, query_id)
        _change(
            store,
            query_id,
            lambda version: RoutingTables(version, query_id),
            token_file,
            timeout_s,
            as_json,
            brought(meta.groups if meta is not None else (), empty),
        )


def _change(
    store: Store,
    query_id: str,
    build: Callable[[int], RoutingTables],
    token_file: Path | None,
    timeout_s: float,
    as_json: bool,
    groups: Sequence[Brought],
) -> None:
    snapshot = _running(store, query_id, token_file)
    if store.has_controller() and not as_json:
        say("A controller runs and may soon publish other tables: stop it first to keep these.")
    by = controller_id()
    context = Context(by=by, now_ms=time.time_ns() // 1_000_000)
    # As after a time-out: the same tables again mean the same change, not one more.
    begun = under_way(snapshot, build)
    version = begun or publish(store, snapshot, build, context)
    if not as_json:
        how = "was published before and is under way" if begun else "is published"
        say(f"Version {version} {how}: {'; '.join(map(str, groups)) or 'no group'}.")
    with progress(f"version {version} is published", quiet=as_json) as shown:
        carrier = Carrier(store, by, threading.Event(), tell=shown.tell)
        outcome = carrier.carry(query_id, version, timeout_s)
    _finish(outcome, as_json, groups)


def _running(store: Store, query_id: str, token_file: Path | None) -> Snapshot:
    snapshot = take_snapshot(store, query_id)
    if snapshot.state.live is None:
        raise Refused(
            f"Query {query_id} is not running, or has had no batch since it started: a change "
            "needs its driver."
        )
    # Only for the driver's own version, which an emptied ZooKeeper forgets; goes without it.
    return with_driver(snapshot, Py4jGateways(token_file), statistics=False)


def _finish(outcome: Outcome, as_json: bool, groups: Sequence[Brought]) -> None:
    if as_json:
        phase = None if outcome.phase is None else Phase.Name(outcome.phase)
        print_json(
            {
                "version": outcome.version,
                "phase": phase,
                "batch": outcome.batch,
                "committed": outcome.committed,
                "sentence": outcome.sentence,
                "groups": [asdict(group) for group in groups],
            }
        )
    elif outcome.committed:
        say(f"Version {outcome.version} is in force since batch {outcome.batch}.")
    elif outcome.ended:
        raise Refused(f"{outcome.sentence}.")
    else:
        say(
            f"Not finished in time: {outcome.sentence}. A running controller finishes it, or the "
            "same command again."
        )
    if not outcome.committed:
        raise typer.Exit(Exit.FAILED if outcome.ended else Exit.TIMEOUT)
