"""The table of what soaks ran, as Markdown.

python -m differential.report FILE [FILE ...]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.stores import STORES

# Columns, and the kinds of faults that each counts.
_FAULTS = {
    "driver killed": ("driver",),
    "executor killed": ("executor",),
    "attempt failed": ("before", "after"),
    "attempt copied": ("copy-before", "copy-after"),
    "handoff file lost or damaged": ("lost", "damaged"),
}
_ALL = "all"


@dataclass
class Row:
    """What the runs of a query on a provider and format came to."""

    runs: int = 0
    broken: int = 0
    changes: int = 0
    moved: int = 0
    differing: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: dict[str, Any]) -> None:
        self.runs += len(verdict["scenario"]["trials"])
        # A scenario that broke has told nothing of its trials.
        self.broken += 0 if verdict["changes"] else len(verdict["scenario"]["trials"])
        self.changes += sum(verdict["changes"])
        self.moved += sum(verdict["moved"])
        self.differing += len({d.split(":")[0] for d in verdict["differences"]} - {"broke"})
        self.faults.update(kind.split(" ")[0] for trial in verdict["faults"] for kind in trial)


def table(lines: Iterable[str]) -> str:
    """A row for each query on each provider and format, and one for all."""
    rows: dict[tuple[str, str], Row] = {}
    for line in lines:
        verdict = json.loads(line)
        scenario = verdict["scenario"]
        for key in ((scenario["workload"], scenario["store"]), (_ALL, _ALL)):
            rows.setdefault(key, Row()).add(verdict)
    columns = ["query", "provider, format", "runs", "reconfigurations", "state rows moved"]
    columns += [*_FAULTS, "runs that differ", "runs that broke"]
    out = [_line(columns), _line(["---"] * len(columns))]
    order = sorted(rows, key=lambda key: (key[0] == _ALL, key))
    return "\n".join([*out, *(_line(_cells(key, rows[key])) for key in order)])


def _cells(key: tuple[str, str], row: Row) -> list[str]:
    faults = [sum(row.faults[kind] for kind in kinds) for kinds in _FAULTS.values()]
    figures = [row.runs, row.changes, row.moved, *faults, row.differing, row.broken]
    return [key[0], _store(key[1]), *map(str, figures)]


def _store(name: str) -> str:
    if name not in STORES:
        return name
    kind, _, rest = name.partition("-")
    if kind == "hdfs":
        return "HDFS-backed"
    version, _, changelog = rest.partition("-")
    return f"RocksDB, {version}{', changelog' if changelog else ''}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(table(line for name in sys.argv[1:] for line in Path(name).read_text().splitlines()))
