"""`keyroute tables`: versions of a query's tables, listed, shown, compared."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated

import numpy as np
import typer

from keyroute.cli import options, tables_change
from keyroute.cli.exits import HELP, sentences
from keyroute.cli.output import print_json, print_table, say
from keyroute.core.table import GroupTable, RoutingTables
from keyroute.core.table_diff import diff
from keyroute.zookeeper.store import QueryState, Store

app = typer.Typer(
    help="Versions of a query's routing tables.",
    no_args_is_help=True,
    epilog=HELP,
)

app.command("apply", epilog=HELP)(tables_change.apply_file)
app.command("reset", epilog=HELP)(tables_change.reset)


@app.command("list", epilog=HELP)
def list_versions(
    query: options.QueryArgument,
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
    query: options.QueryArgument,
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
    query: options.QueryArgument,
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
