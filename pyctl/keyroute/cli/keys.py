"""`keyroute keys`: the heaviest keys of a dump."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli.exits import Refused, sentences
from keyroute.cli.files import read_whole
from keyroute.cli.options import JsonOption
from keyroute.cli.output import percent, print_json, print_table, say
from keyroute.core.dump import InvalidDump, decode
from keyroute.core.heavy_keys import HeavyKey, heavy_keys


def keys(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of `keyroute dump`.")],
    top: Annotated[int, typer.Option(min=1, help="Keys of each group.")] = 20,
    as_json: JsonOption = False,
) -> None:
    """Lists the heaviest keys of a dump: their rows, and where the tables in force send them.

    A key's value is there where the driver has it (`spark.keyroute.statistics.labels`); else a key
    is only its fingerprint.
    """
    with sentences():
        try:
            dump = decode(read_whole(file))
        except InvalidDump as error:
            raise Refused(f"{file} is no dump that can be used: {error}.") from error
        periods = dump.statistics.periods
        found = [
            (shape, heavy_keys(shape, periods, dump.current, top))
            for shape in dump.shapes
            if shape.routing_ordinals
        ]
        if as_json:
            print_json([asdict(key) for _, of in found for key in of])
            return
        for shape, of in found:
            names = ", ".join(shape.key_names[i] for i in shape.routing_ordinals)
            columns = ("key", "fingerprint", "rows", "share", "partition")
            print_table(f"Group {shape.group}, by {names}", columns, _rows(of))
        if not any(key.label for _, of in found for key in of):
            say("No key has its value here: spark.keyroute.statistics.labels was 0.")


def _rows(of: Sequence[HeavyKey]) -> list[tuple[object, ...]]:
    return [
        (printable(k.label), f"{k.fingerprint:d}", k.rows, percent(k.share), k.partition)
        for k in of
    ]


def printable(label: str) -> str:
    """A user's text without what would steer a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in label)
