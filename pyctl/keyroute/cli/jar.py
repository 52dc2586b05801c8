"""`keyroute jar` and `keyroute version`."""

from __future__ import annotations

from typing import Annotated

import typer

import keyroute
from keyroute.cli.exits import sentences
from keyroute.cli.options import JsonOption
from keyroute.cli.output import print_json
from keyroute.jar import JarMissing, find_jar


def jar(
    spark: Annotated[
        str | None, typer.Option(help="Minor version of Spark, as 4.3; else the installed one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Prints the path of the plugin's jar, as for spark-submit --jars "$(keyroute jar)"."""
    with sentences():
        path = str(find_jar(minor=spark))
        if as_json:
            print_json({"jar": path})
        else:
            typer.echo(path)


def version(as_json: JsonOption = False) -> None:
    """Prints the version; with --json the jar's path too."""
    try:
        path = str(find_jar())
    except JarMissing:
        path = ""
    if as_json:
        print_json({"version": keyroute.__version__, "jar": path or None})
    else:
        typer.echo(keyroute.__version__)
