"""The demo's figures: `result.json`, and the table that people see."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

from keyroute.core.hashes import spark_hash
from keyroute.core.statistics import imbalance
from keyroute.demo.recording import Recording, Span
from keyroute.demo.simulated import locality_after_last_table

# What the demo must show; shares and ratios.
MIN_CHANGES = 2
MIN_MOVED = 0.05
MIN_LOCALITY = 0.75
MIN_LOCALITY_RATIO = 2.3
MAX_IMBALANCE = 1.10
MAX_SIMULATED_ERROR = 0.03

# The demo's operators by the name of their key.
_OPERATORS = {"A": "tailnum", "B": "route"}


def summary(
    recording: Recording, flights: pd.DataFrame, batches: int, partitions: int
) -> dict[str, Any]:
    """All of result.json but `exact`, `rows`, `batches`, `seconds` and `shortfalls`.

    `hash_same_rows` is what the empty table would give for the very rows after the last table:
    Spark's own hash of their keys, modulo the partitions. `simulated` is what the simulator finds
    for them without Spark, None where no table came into force.
    """
    before, after = recording.before_first_table(), recording.after_last_table()
    first = after.batches[0].batch if after.batches else 0
    rows = flights.iloc[len(flights) * first // batches :]
    hashed = {name: _by_hash(rows[key], partitions) for name, key in _OPERATORS.items()}
    return {
        # The last batch may end with the application, before anybody can read its figures.
        "batches_measured": len(recording.batches),
        "measured_locality": {
            "before_first_table": before.locality,
            "after_last_table": after.locality,
            "hash_same_rows": float(np.mean(hashed["A"] == hashed["B"])),
            "simulated": locality_after_last_table(
                flights, [len(flights) * b // batches for b in recording.switch_batches], partitions
            ),
        },
        "remote_bytes_per_row": {
            "before_first_table": before.remote_bytes_per_row,
            "after_last_table": after.remote_bytes_per_row,
        },
        "imbalance": {
            name: {
                "hash_same_rows": imbalance(np.bincount(hashed[name], minlength=partitions)),
                "after_last_table": _measured_imbalance(recording, after, key),
            }
            for name, key in _OPERATORS.items()
        },
        "reconfigurations": [_reconfiguration(recording, b) for b in recording.switch_batches],
        "median_batch_ms": (
            statistics.median(b.duration_ms for b in recording.batches.values())
            if recording.batches
            else 0
        ),
    }


def _by_hash(keys: pd.Series[Any], partitions: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    def partition(key: object) -> int:
        return spark_hash([key], ["string"])[0] % partitions

    missing = keys.isna()
    known = {key: partition(key) for key in keys[~missing].unique()}
    mapped = keys.where(~missing, "").map({**known, "": partition(None)})
    return np.asarray(mapped, dtype=np.int64)


def _measured_imbalance(recording: Recording, span: Span, key: str) -> float:
    groups = [group for group, name in recording.key_of_group.items() if name == key]
    return span.imbalance(groups[0]) if groups else 0.0


def _reconfiguration(recording: Recording, batch: int) -> dict[str, Any]:
    switch = recording.switches[batch]
    ran = recording.batches.get(batch)
    return {
        "batch": batch,
        "version": switch.to_version,
        "rows_moved": switch.rows_moved,
        "state_rows": switch.rows_seen,
        "handoff_ms": switch.handoff_ms,
        "apply_ms": switch.apply_ms,
        "predicted_locality": recording.predicted_locality.get(switch.to_version),
        "batch_ms": ran.duration_ms if ran else None,
    }


def shortfalls(result: dict[str, Any]) -> list[str]:
    """One sentence for each figure of result.json that is not what the demo must show."""
    locality, changes = result["measured_locality"], result["reconfigurations"]
    after, hashed = locality["after_last_table"], locality["hash_same_rows"]
    balance = result["imbalance"].values()
    worst = max(figures["after_last_table"] for figures in balance)
    worst_hashed = max(figures["hash_same_rows"] for figures in balance)
    found = []
    if len(changes) < MIN_CHANGES:
        found.append(f"{len(changes)} reconfigurations, not {MIN_CHANGES} or more")
    found += [
        f"table {change['version']} moved {change['rows_moved']:,} of {change['state_rows']:,} "
        f"state rows, less than {MIN_MOVED:.0%}"
        for change in changes
        if change["rows_moved"] < MIN_MOVED * change["state_rows"]
    ]
    if after < MIN_LOCALITY or after < MIN_LOCALITY_RATIO * hashed:
        found.append(
            f"locality {after:.1%} after the last table: less than {MIN_LOCALITY:.0%}, or than "
            f"{MIN_LOCALITY_RATIO} times the {hashed:.1%} of hash"
        )
    simulated = locality["simulated"]
    if simulated is not None and abs(simulated - after) > MAX_SIMULATED_ERROR:
        found.append(
            f"locality {after:.1%} after the last table, where the simulator finds "
            f"{simulated:.1%}: more than {MAX_SIMULATED_ERROR * 100:.0f} points apart"
        )
    if worst > min(MAX_IMBALANCE, worst_hashed):
        found.append(
            f"imbalance {worst:.3f} after the last table: more than {MAX_IMBALANCE}, or than the "
            f"{worst_hashed:.3f} of hash"
        )
    return found


def as_table(result: dict[str, Any]) -> Table:
    """The figures for people."""
    table = Table(title="Flights by airplane (A), then by route (B)")
    for heading in ("", "before the first table", "after the last table", "hash, same rows"):
        table.add_column(heading, justify="left" if not heading else "right")
    locality, remote = result["measured_locality"], result["remote_bytes_per_row"]
    table.add_row(
        "locality",
        f"{locality['before_first_table']:.1%}",
        f"{locality['after_last_table']:.1%}",
        f"{locality['hash_same_rows']:.1%}",
    )
    if locality["simulated"] is not None:
        table.add_row("locality, simulated", "", f"{locality['simulated']:.1%}", "")
    table.add_row(
        "remote bytes a row",
        f"{remote['before_first_table']:.0f}",
        f"{remote['after_last_table']:.0f}",
        "",
    )
    for name, figures in result["imbalance"].items():
        table.add_row(
            f"imbalance of {name} (max/mean)",
            "",
            f"{figures['after_last_table']:.3f}",
            f"{figures['hash_same_rows']:.3f}",
        )
    return table


def sentence(reconfiguration: dict[str, Any], last_day: list[str]) -> str:
    """What one switch did."""
    moved, seen = reconfiguration["rows_moved"], reconfiguration["state_rows"]
    predicted = reconfiguration["predicted_locality"]
    return (
        f"table {reconfiguration['version']} from {last_day[reconfiguration['batch']]} "
        f"(batch {reconfiguration['batch']}): {moved:,} of {seen:,} state rows moved "
        f"({moved / max(seen, 1):.0%}), handoff {reconfiguration['handoff_ms']} ms, "
        f"apply {reconfiguration['apply_ms']} ms"
        + ("" if predicted is None else f", predicted locality {predicted:.0%}")
    )
