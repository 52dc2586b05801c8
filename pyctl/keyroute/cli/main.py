"""`keyroute`: the commands, assembled."""

from __future__ import annotations

from typing import Annotated

import typer

import keyroute
from keyroute.cli import (
    controller,
    demo,
    dump,
    jar,
    keys,
    ownership,
    plan,
    simulate,
    status,
    tables,
    zookeeper,
)
from keyroute.cli.exits import HELP

app = typer.Typer(
    name="keyroute",
    help="Routing tables for Spark's stateful streams.",
    epilog=HELP,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
)

app.command(epilog=HELP)(controller.controller)
app.command(epilog=HELP)(status.status)
app.add_typer(tables.app, name="tables")
app.command(epilog=HELP)(dump.dump)
app.command(epilog=HELP)(plan.plan)
app.command(epilog=HELP)(keys.keys)
app.command(epilog=HELP)(ownership.adopt)
app.command(epilog=HELP)(ownership.release)
app.command(epilog=HELP)(zookeeper.zookeeper)
app.command(epilog=HELP)(simulate.simulate)
app.command(epilog=HELP)(demo.demo)
app.command(epilog=HELP)(jar.jar)
app.command(epilog=HELP)(jar.version)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(keyroute.__version__)
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Routing tables for Spark's stateful streams."""


if __name__ == "__main__":
    app()
