"""`keyroute tables`: versions of a query's tables, listed, shown, compared, applied by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from keyroute.cli import options
from keyroute.cli.exits import HELP, Exit, Refused, Usage, sentences
from keyroute.cli.output import print_json, print_table, progress, say
from keyroute.cli.table_file import UnreadableFile, read_tables
from keyroute.controller.carry import Carrier, Outcome
from keyroute.controller.publish import publish
from keyroute.controller.reconfigure import Context
from keyroute.controller.snapshot import Snapshot, take_snapshot, with_driver
from keyroute.core.table import GroupTable, RoutingTables
from keyroute.core.table_diff import diff
from keyroute.gateway.client import Py4jGateways
from keyroute.v1.reconfiguration_pb2 import Phase
from keyroute.zookeeper.election import controller_id
from keyroute.zookeeper.store import QueryState, Store

app = typer.Typer(
    help="Versions of a query's routing tables. QUERY is an id, the beginning of one, or a name.",
    no_args_is_help=True,
    epilog=HELP,
)

QueryArgument = Annotated[str, typer.Argument(metavar="QUERY")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait for the switch.")
]


@app.command("list", epilog=HELP)
def list_versions(
    query: QueryArgument,
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Lists the versions that ZooKeeper keeps."""
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        query_id = options.find_query(store, query)
        state = store.query(query_id)
        found = [
            {**asdict(meta), "state": _state(state, meta.version)}
            for meta in store.tables.list(query_id)
        ]
        if as_json:
            print_json(found)
            return
        rows = [
            (
                f["version"],
                f["state"],
                f["entries"],
                f["size_bytes"],
                _when(f["created_ms"]),
                f["by"],
                str(f["hash"])[:12],
            )
            for f in found
        ]
        columns = ("version", "state", "entries", "bytes", "created", "by", "hash")
        print_table(f"Tables of {query_id}", columns, rows)


@app.command(epilog=HELP)
def show(
    query: QueryArgument,
    version: Annotated[int, typer.Argument(min=1)],
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Shows a version: entries and slots of each group and partition; all entries with --json."""
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        tables = store.tables.read(options.find_query(store, query), version)
        if as_json:
            print_json(_as_json(tables))
            return
        parts = tables.parts
        for table in tables.groups:
            shape = table.shape
            title = (
                f"Group {shape.group}, operators {list(shape.operators)}, key "
                f"{', '.join(shape.key_names)}: {table.entries:,} entries"
            )
            counts, slots = _counts(table)
            rows = [
                (p, counts[p], slots[p], parts[p] if parts else p) for p in range(shape.partitions)
            ]
            print_table(title, ("partition", "entries", "slots", "part"), rows)
        if not tables.groups:
            say(f"Version {version} is empty: every key goes where Spark would send it.")


@app.command("diff", epilog=HELP)
def compare(
    query: QueryArgument,
    older: Annotated[int, typer.Argument(min=0, help="0 stands for Spark's own routing.")],
    newer: Annotated[int, typer.Argument(min=0)],
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Compares two versions, group by group."""
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        query_id = options.find_query(store, query)
        versions = [_read(store, query_id, number) for number in (older, newer)]
        found = diff(*versions)
        if as_json:
            print_json([asdict(group) for group in found])
            return
        columns = ("group", "added", "removed", "other partition", "slots moved")
        rows = [tuple(asdict(group).values()) for group in found]
        print_table(f"From version {older} to {newer}", columns, rows)


@app.command("apply", epilog=HELP)
def apply_file(
    query: QueryArgument,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)],
    timeout_s: TimeoutOption = 120.0,
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Publishes FILE as the next version and waits until the query runs under it.

    FILE is JSON: {"groups": {"0": {"keys": {"N12345": 2}}}}; for keys of several columns
    {"keys": [{"key": ["a", 1], "partition": 2}]}; "fingerprints" and "slotOwners" too; or a
    serialised RoutingTables.
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
        )


@app.command(epilog=HELP)
def reset(
    query: QueryArgument,
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
        empty = lambda version: RoutingTables(version, query_id)  # noqa: E731
        _change(store, query_id, empty, token_file, timeout_s, as_json)


def _change(
    store: Store,
    query_id: str,
    build: Callable[[int], RoutingTables],
    token_file: Path | None,
    timeout_s: float,
    as_json: bool,
) -> None:
    snapshot = _running(store, query_id, token_file)
    by = controller_id()
    context = Context(by=by, now_ms=time.time_ns() // 1_000_000)
    version = publish(store, snapshot, build, context)
    with progress(f"version {version} is published", quiet=as_json) as shown:
        carrier = Carrier(store, by, threading.Event(), tell=shown.tell)
        outcome = carrier.carry(query_id, version, timeout_s)
    _finish(outcome, as_json)


def _running(store: Store, query_id: str, token_file: Path | None) -> Snapshot:
    snapshot = take_snapshot(store, query_id)
    if snapshot.state.live is None:
        raise Refused(f"Query {query_id} is not running: a change needs its driver.")
    # Only for the driver's own version, which an emptied ZooKeeper forgets; goes without it.
    return with_driver(snapshot, Py4jGateways(token_file), statistics=False)


def _finish(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        phase = None if outcome.phase is None else Phase.Name(outcome.phase)
        print_json(
            {
                "version": outcome.version,
                "phase": phase,
                "batch": outcome.batch,
                "committed": outcome.committed,
                "sentence": outcome.sentence,
            }
        )
    elif outcome.committed:
        say(f"Version {outcome.version} is in force since batch {outcome.batch}.")
    elif outcome.ended:
        raise Refused(f"{outcome.sentence}.")
    else:
        say(f"Not finished in time, and goes on by itself: {outcome.sentence}.")
    if not outcome.committed:
        raise typer.Exit(Exit.FAILED if outcome.ended else Exit.TIMEOUT)


def _read(store: Store, query_id: str, version: int) -> RoutingTables:
    return store.tables.read(query_id, version) if version else RoutingTables(0, query_id)


def _state(state: QueryState, version: int) -> str:
    if state.in_force is not None and state.in_force.version == version:
        return "in force"
    if state.wanted is not None and state.wanted.version == version:
        return "wanted"
    return ""


def _when(ms: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms / 1000))


def _counts(table: GroupTable) -> tuple[list[int], list[int]]:
    n = table.shape.partitions
    return (
        np.bincount(table.targets, minlength=n).tolist(),
        np.bincount(table.owners(), minlength=n).tolist(),
    )


def _as_json(tables: RoutingTables) -> dict[str, object]:
    groups = []
    for table in tables.groups:
        entries, slots = _counts(table)
        groups.append(
            {
                "group": table.shape.group,
                "operators": list(table.shape.operators),
                "partitions": table.shape.partitions,
                "slots": table.shape.slots,
                "keyNames": list(table.shape.key_names),
                "keyTypes": list(table.shape.key_types),
                "entries": table.entries,
                "entriesOfPartition": entries,
                "slotsOfPartition": slots,
                "fingerprints": {
                    str(fingerprint): target
                    for fingerprint, target in zip(
                        table.fingerprints.tolist(), table.targets.tolist(), strict=True
                    )
                },
                "slotOwners": [] if table.slot_owners is None else table.slot_owners.tolist(),
            }
        )
    return {
        "version": tables.version,
        "queryId": tables.query_id,
        "parts": list(tables.parts),
        "groups": groups,
    }
