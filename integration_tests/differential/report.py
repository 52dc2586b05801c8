"""The table of what a soak ran.

python -m differential.report FILE [FILE ...]
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path


def table(lines: Iterable[str]) -> str:
    """Runs, changes of tables and differences, by query, store and fault, as Markdown."""
    runs: Counter[tuple[str, str, str]] = Counter()
    changes: Counter[tuple[str, str, str]] = Counter()
    differing: Counter[tuple[str, str, str]] = Counter()
    for line in lines:
        verdict = json.loads(line)
        fault = ", ".join(verdict["faults"]) or "none"
        for row in ((verdict["workload"], verdict["store"], fault), ("all", "all", "all")):
            runs[row] += 1
            changes[row] += verdict["changes"]
            differing[row] += bool(verdict["differences"])
    out = ["| query | state store | fault | runs | reconfigurations | differences |"]
    out.append("|---|---|---|---|---|---|")
    ordered = sorted(runs, key=lambda r: (r[0] == "all", r))
    out += [f"| {' | '.join(r)} | {runs[r]} | {changes[r]} | {differing[r]} |" for r in ordered]
    return "\n".join(out)


if __name__ == "__main__":
    print(table(line for name in sys.argv[1:] for line in Path(name).read_text().splitlines()))
