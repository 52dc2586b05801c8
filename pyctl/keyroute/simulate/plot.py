"""Draws a replay: locality and imbalance of each period."""

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
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    steps = replay.steps
    top.plot(times, [s.next.locality for s in steps], marker=".", label="on the next period")
    top.plot(times, [s.same.locality for s in steps], linestyle=":", label="on its own period")
    top.plot(times, [s.hash.locality for s in steps], color="grey", label="hash")
    top.set_ylabel("locality")
    top.set_ylim(0, 1)
    top.legend()
    for index, key in enumerate(replay.keys):
        (line,) = bottom.plot(
            times, [s.next.imbalance[index] for s in steps], marker=".", label=f"by {key}"
        )
        bottom.plot(
            times,
            [s.hash.imbalance[index] for s in steps],
            linestyle="--",
            color=line.get_color(),
            label=f"by {key}, hash",
        )
    bottom.set_ylabel("imbalance on the next period (max/mean)")
    bottom.set_xlabel("period planned after")
    bottom.legend()
    top.set_title(f"{replay.planner}, {replay.parts} partitions")
    if timed:
        figure.autofmt_xdate()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
