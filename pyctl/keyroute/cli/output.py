"""What commands print: tables and sentences for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.table import Table

OUT = Console()
ERR = Console(stderr=True)


def complain(sentence: str) -> None:
    """A sentence about what went wrong, on stderr."""
    ERR.print(f"[bold red]keyroute:[/] {escape(sentence)}", soft_wrap=True)


def say(sentence: str) -> None:
    """A sentence, on stdout."""
    OUT.print(escape(sentence), soft_wrap=True)


def print_json(value: object) -> None:
    """One JSON document on stdout, without colours or wrapping."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table for people; numbers stand right."""
    OUT.print(escape(title), style="bold", soft_wrap=True)
    table = Table(header_style="bold")
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], (int, float)) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(escape(_text(cell)) for cell in row))
    OUT.print(table)


@contextmanager
def progress(sentence: str, *, quiet: bool) -> Iterator[Progress]:
    """Shows what is being waited for, on stderr and on terminals only."""
    if quiet or not ERR.is_terminal:
        yield Progress(None)
        return
    with ERR.status(escape(sentence)) as status:
        yield Progress(lambda text: status.update(escape(text)))


class Progress:
    """What `progress` yields: `tell` replaces the sentence."""

    def __init__(self, update: Callable[[str], None] | None) -> None:
        self._update = update

    def tell(self, sentence: str) -> None:
        """Shows another sentence."""
        if self._update is not None:
            self._update(sentence)


def percent(share: float | None) -> str:
    """A share as 81.3 %; a dash where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def ratio(value: float | None) -> str:
    """A ratio as 1.05; a dash where there is none."""
    return "-" if value is None else f"{value:.2f}"


def _text(cell: object) -> str:
    if cell is None or cell == "":
        return "-"
    if isinstance(cell, Mapping):
        return ", ".join(f"{key}: {value}" for key, value in cell.items()) or "-"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)
