"""`keyroute zookeeper`: a one-node ZooKeeper in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli.exits import sentences
from keyroute.cli.output import print_json, progress, say
from keyroute.cli.signals import stop_on_signals
from keyroute.zookeeper.server import ZooKeeperServer


def zookeeper(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 2181,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", file_okay=False, help="Kept between starts; else temporary."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as JSON.")] = False,
) -> None:
    """Runs a one-node ZooKeeper on loopback until it is interrupted; for trials and tests.

    Its jars come from PySpark (the extra spark of keyroute) or SPARK_HOME. Prints the connect
    string once it answers.
    """
    with sentences(), stop_on_signals() as stop:
        server = ZooKeeperServer(port=port, data_dir=data_dir)
        try:
            with progress("starting ZooKeeper", quiet=as_json):
                server.start()
            if as_json:
                print_json({"connect": server.connect_string, "log": str(server.log_file)})
            else:
                say(server.connect_string)
            server.wait(stop.wait)
        finally:
            server.close()
