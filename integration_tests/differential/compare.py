"""What a run gave beside what Spark alone gave."""

from __future__ import annotations

from collections import Counter

import numpy as np

from differential.drive import Run
from differential.scenario import Scenario
from keyroute.core.table import GroupShape, empty

_SHOWN = 3


def differences(scenario: Scenario, name: str, plain: Run, other: Run) -> list[str]:
    """One sentence for each thing that is not as it must be; empty: exact."""
    found = [f"{name}: not routed: {why}" for why in other.bypassed]
    if not any(plain.outputs.values()):
        found.append("the query emitted nothing: there is nothing to compare")
    for batch in sorted(plain.outputs.keys() | other.outputs.keys()):
        want, got = plain.outputs.get(batch), other.outputs.get(batch)
        if want != got:
            found.append(f"{name}: rows of batch {batch}: {_beside(want or [], got or [])}")
    for read, mine, theirs in zip(scenario.query.states, plain.states, other.states, strict=True):
        want, got = [row[1] for row in mine], [row[1] for row in theirs]
        if sorted(want) != sorted(got):
            found.append(f"{name}: state of {read}: {_beside(want, got)}")
    return found + [f"{name}: {sentence}" for sentence in misplaced(scenario, other)]


def misplaced(scenario: Scenario, run: Run) -> list[str]:
    """State rows that are not in the partition that the tables say."""
    found = []
    for read, rows in zip(scenario.query.states, run.states, strict=True):
        shapes = [s for s in run.shapes if read.operator in s.operators]
        if run.tables and not shapes:
            found.append(f"operator {read.operator} is not routed")
        if not shapes or not rows:
            continue
        table = run.tables.group(shapes[0]) if run.tables else empty(shapes[0])
        where = table.route(
            np.array([row[2] for row in rows], dtype=np.int32),
            np.array([int(row[3][_routing(shapes[0])]) for row in rows], dtype=np.int64),
        )
        wrong = [row for row, p in zip(rows, where, strict=True) if row[0] != p]
        if wrong:
            found.append(f"{len(wrong)} state rows of {read} are misplaced, as {wrong[:_SHOWN]}")
    return found


def _routing(shape: GroupShape) -> int:
    """Which of a row's fingerprints is of the routing columns, see `worker._subsets`."""
    return sum(1 << ordinal for ordinal in shape.routing_ordinals) - 1


def _beside(want: list[str], got: list[str]) -> str:
    missing, extra = Counter(want) - Counter(got), Counter(got) - Counter(want)
    return (
        f"{missing.total()} missing, as {list(missing)[:_SHOWN]}; "
        f"{extra.total()} more, as {list(extra)[:_SHOWN]}"
    )
