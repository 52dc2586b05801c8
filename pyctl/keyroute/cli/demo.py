"""`keyroute demo`: real flights through two chained operators, reconfigured while they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli.exits import Exit, Refused, sentences
from keyroute.cli.output import OUT


def demo(
    work: Annotated[
        Path,
        typer.Option("--work", file_okay=False, help="Folder of the run; new, empty or a demo's."),
    ] = Path("target/demo"),
) -> None:
    """Runs the demo from a source checkout; `make demo` sets everything up first.

    Fails where any result differs from a batch computation, or the figures are not what KeyRoute
    is for. Figures: WORK/result.json.
    """
    with sentences():
        try:
            from keyroute.demo import run as demo_run
        except ImportError as error:
            raise Refused(f"The demo needs {error.name}: pip install 'keyroute[demo]'.") from error
        try:
            figures = demo_run.run(work, OUT)
        except demo_run.DemoFailed as error:
            raise Refused(f"{error}.") from error
    if not figures["exact"] or figures["shortfalls"]:
        raise typer.Exit(Exit.FAILED)
