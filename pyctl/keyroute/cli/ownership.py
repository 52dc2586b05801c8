"""`keyroute adopt` and `keyroute release`: whose a stopped query's checkpoint is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from keyroute.cli import options
from keyroute.cli.exits import Refused, sentences
from keyroute.cli.output import print_json, progress, say
from keyroute.jar import find_jar
from keyroute.zookeeper.errors import UNREADABLE
from keyroute.zookeeper.java import find_java, find_spark_jars
from keyroute.zookeeper.store import Store
from keyroute.zookeeper.tool import run_tool

_MAIN = "org.apache.spark.sql.keyroute.adopt.CheckpointCommand"

CheckpointArgument = Annotated[
    str,
    typer.Argument(metavar="CHECKPOINT", help="The query's checkpointLocation; any Hadoop URI."),
]
QuietOption = Annotated[
    int,
    typer.Option(
        "--quiet-seconds",
        min=0,
        help="Refuse where the checkpoint's logs changed within so many seconds.",
    ),
]
OptionalZooKeeper = Annotated[
    str | None,
    typer.Option(
        "--zookeeper",
        envvar="KEYROUTE_ZOOKEEPER",
        metavar="HOST:PORT,…",
        help="ZooKeeper, to refuse where the query is registered as running.",
    ),
]


def adopt(
    checkpoint: CheckpointArgument,
    zookeeper: OptionalZooKeeper = None,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    quiet_seconds: QuietOption = 10,
    as_json: options.JsonOption = False,
) -> None:
    """Lets a stopped query of plain Spark go on under KeyRoute, from its checkpoint.

    Rewrites the state store provider in the newest entry of the checkpoint's offset log, with a
    backup. Start the query with the jar afterwards; nothing else changes. Needs Java, Spark's jars
    (the extra spark of keyroute, or SPARK_HOME) and, for other file systems than the local one,
    HADOOP_CONF_DIR.
    """
    _change("adopt", checkpoint, zookeeper, root, auth_file, quiet_seconds, as_json)


def release(
    checkpoint: CheckpointArgument,
    zookeeper: OptionalZooKeeper = None,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    quiet_seconds: QuietOption = 10,
    as_json: options.JsonOption = False,
) -> None:
    """Gives a stopped query's checkpoint back to plain Spark, which then needs no jar.

    Refuses while a routing table is in force: `keyroute tables reset` on the running query, then
    two batches, take it back. Rewrites the state store provider in the newest entry of the
    checkpoint's offset log, with a backup.
    """
    _change("release", checkpoint, zookeeper, root, auth_file, quiet_seconds, as_json)


def _change(
    what: str,
    checkpoint: str,
    zookeeper: str | None,
    root: str,
    auth_file: Path | None,
    quiet_seconds: int,
    as_json: bool,
) -> None:
    with sentences():
        live = [] if zookeeper is None else _live(zookeeper, root, auth_file)
        with progress(f"reading {checkpoint}", quiet=as_json):
            answer = _run([what, checkpoint, str(quiet_seconds), *live])
        if as_json:
            print_json(answer)
            return
        say(
            f"Batch {answer['batch']} of {checkpoint}: the state store provider was "
            f"{answer['from']} and is {answer['to']}."
        )
        say(f"The entry as it was: {answer['backup']}")
        if zookeeper is None:
            say("ZooKeeper was not asked whether the query runs (--zookeeper).")


def _live(zookeeper: str, root: str, auth_file: Path | None) -> list[str]:
    with options.open_store(zookeeper, root, auth_file) as store:
        return [query_id for query_id in store.query_ids() if _may_run(store, query_id)]


def _may_run(store: Store, query_id: str) -> bool:
    try:
        return store.query(query_id).live is not None
    except UNREADABLE:
        return True


def _run(arguments: Sequence[str]) -> dict[str, Any]:
    answer = run_tool(find_java(), [find_jar(), *find_spark_jars().glob("*.jar")], _MAIN, arguments)
    if "refused" in answer:
        raise Refused(answer["refused"])
    return answer
