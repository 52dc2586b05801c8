"""Draws a replay: locality, imbalance and what moved, of each period."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from keyroute.simulate.result import Replay


def draw(replay: Replay, path: Path) -> None:
    """A point for each period that tables were measured on, at the time of the one before; at its
    number where it has none."""
    timed = all(step.begins for step in replay.steps)
    moments = np.array([step.begins for step in replay.steps], dtype="datetime64[s]")
    times = moments if timed else np.array([step.period + 1 for step in replay.steps])
    steps = replay.steps
    figure, (local, load, moved) = plt.subplots(
        3, 1, figsize=(10, 8), sharex=True, height_ratios=[3, 3, 2]
    )
    local.plot(times, [s.next.locality for s in steps], "C0.-", label="on the next period")
    foreseen = np.array([s.predicted for s in steps], dtype=float)
    local.plot(times, foreseen, "C3:", label="predicted for it")
    local.plot(times, [s.same.locality for s in steps], "C0:", label="on its own period")
    local.plot(times, [s.hash.locality for s in steps], color="grey", ls="--", label="hash")
    local.set(ylabel="locality", ylim=(0, 1), title=f"{replay.planner}, {replay.places}")
    measured = (
        (".-", "", [s.next for s in steps]),
        (":", ", own period", [s.same for s in steps]),
        ("--", ", hash", [s.hash for s in steps]),
    )
    for i, key in enumerate(replay.keys):
        for style, where, on in measured:
            of = [m.imbalance[i] for m in on]
            load.plot(times, of, style, color=f"C{i}", label=f"by {key}{where}")
    load.set_ylabel("imbalance (max/mean)")
    moved.plot(times, [s.moved_weight for s in steps], "C0.-")
    moved.set(ylabel="share of rows moved", xlabel="period planned after")
    moved.set_ylim(bottom=0)
    for panel in (local, load):
        panel.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    if timed:
        figure.autofmt_xdate()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
