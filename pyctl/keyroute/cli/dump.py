"""`keyroute dump`: what the driver knows of a query, in a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli import options
from keyroute.cli.exits import Refused, Unread, sentences
from keyroute.cli.files import write_whole
from keyroute.cli.output import print_json, progress, say
from keyroute.controller.planning import read_current
from keyroute.controller.snapshot import Snapshot, take_snapshot, with_driver
from keyroute.core.dump import Dump, encode
from keyroute.core.heavy_keys import labels
from keyroute.gateway.client import Py4jGateways
from keyroute.zookeeper.store import Store


def dump(
    query: options.QueryArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False)],
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Saves what the driver knows of a running query: statistics, tables in force, placement.

    `keyroute plan FILE` runs any planner on it, without the cluster. Where the driver has values of
    keys (`spark.keyroute.statistics.labels`), the file has them, and the command says so; it is
    readable by its owner only.
    """
    with sentences(), options.open_store(zookeeper, root, auth_file) as store:
        with progress("asking the driver", quiet=as_json):
            snapshot = with_driver(
                take_snapshot(store, options.find_query(store, query)),
                Py4jGateways(token_file),
                statistics=True,
            )
        made = _dump(store, snapshot)
        write_whole(file, encode(made))
        periods = made.statistics.periods
        found = {
            "file": str(file),
            "query_id": made.statistics.query_id,
            "periods": len(periods),
            "rows": sum(period.rows for period in periods),
            "version": made.current.version,
            "labels": sum(len(labels(shape.group, periods)) for shape in made.shapes),
            "note": made.note,
        }
        if as_json:
            print_json(found)
            return
        say(sentence(found))


def sentence(found: Mapping[str, object]) -> str:
    """What the file has, for people."""
    told = (
        f"{found['file']}: {found['periods']} periods of {found['rows']:,} rows, and the tables of "
        f"version {found['version']}."
    )
    if found["note"]:
        told += f" {found['note']}."
    if found["labels"]:
        told += f" It has the values of {found['labels']:,} keys: keep it as you keep those."
    return told


def _dump(store: Store, snapshot: Snapshot) -> Dump:
    driver, meta = snapshot.driver, snapshot.state.meta
    assert driver is not None  # with_driver has asked
    if driver.problem:
        raise Unread(f"There are no statistics of {snapshot.label}: {driver.problem}.")
    if driver.statistics is None:
        raise Refused(f"The driver has no statistics of {snapshot.label} (yet).")
    current = read_current(store, snapshot)
    return Dump(
        statistics=driver.statistics,
        shapes=meta.groups if meta is not None else driver.statistics.shapes,
        current=current.tables,
        note=current.note,
        by="keyroute dump",
        created_ms=time.time_ns() // 1_000_000,
    )
