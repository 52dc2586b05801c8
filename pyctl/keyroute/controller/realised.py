"""What came true of a prediction: the first closed periods under its version, as counted. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from keyroute.controller.snapshot import Snapshot
from keyroute.core.score import measured_imbalance
from keyroute.core.statistics import Period
from keyroute.v1.reconfiguration_pb2 import COMMIT
from keyroute.zookeeper.predictions import PredictionRecord, Predictions


def realised(
    snapshot: Snapshot, known: Predictions, rows: int, now_ms: int
) -> PredictionRecord | None:
    """The record of the version in force, once at least `rows` were counted under it.

    None where it is known already, where nothing was predicted (tables by hand), or too early. The
    newest period may still be open and does not count.
    """
    state, driver = snapshot.state, snapshot.driver
    change = state.reconfiguration.value
    if change is None or change.phase != COMMIT or change.version in known.versions:
        return None
    if state.in_force is None or state.in_force.version != change.version:
        return None
    if not change.predicted_imbalance or driver is None or driver.statistics is None:
        return None
    periods = _first(driver.statistics.periods[:-1], change.version, rows)
    if not periods:
        return None
    pairs = sum(e.rows for p in periods for e in p.edges)
    local = sum(e.local_rows for p in periods for e in p.edges)
    return PredictionRecord(
        version=change.version,
        predicted_locality=change.predicted_locality if pairs else None,
        predicted_imbalance=change.predicted_imbalance,
        realised_locality=local / pairs if pairs else None,
        realised_imbalance=max(measured_imbalance(periods).values(), default=1.0),
        rows=sum(p.rows for p in periods),
        moves=change.predicted_moves,
        measured_ms=now_ms,
    )


def _first(closed: Sequence[Period], version: int, rows: int) -> tuple[Period, ...]:
    """The first periods under a version that hold so many rows; none where all do not."""
    taken: list[Period] = []
    for period in closed:
        if period.table_version == version:
            taken.append(period)
            if sum(p.rows for p in taken) >= rows:
                return tuple(taken)
    return ()
