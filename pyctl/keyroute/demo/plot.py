"""Draws the demo's locality and imbalance against the flights' date."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

from keyroute.demo.recording import Recording


def draw(recording: Recording, last_day: list[str], path: Path) -> None:
    """One point a batch at the day of its last flight; a line for each switch of tables."""
    numbers = [b for b in sorted(recording.batches) if b < len(last_day)]
    days = pd.to_datetime([last_day[b] for b in numbers])
    ran = [recording.batches[b] for b in numbers]

    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    top.plot(days, [b.local_rows / b.edge_rows if b.edge_rows else 0 for b in ran], marker=".")
    top.set_ylabel("measured locality")
    top.set_ylim(0, 1)
    for index, key in enumerate(recording.key_of_group.values()):
        bottom.plot(
            days,
            [b.imbalance[index] if index < len(b.imbalance) else float("nan") for b in ran],
            marker=".",
            label=f"by {key}",
        )
    bottom.set_ylabel("imbalance of a batch (max/mean)")
    bottom.set_xlabel("date of the flights")
    if recording.key_of_group:
        bottom.legend()
    for batch in recording.switch_batches:
        if batch < len(last_day):
            for axes in (top, bottom):
                axes.axvline(pd.Timestamp(last_day[batch]), linestyle="--", color="grey")
    top.set_title("Tables in force change at the dashed lines")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
