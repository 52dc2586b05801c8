"""Real streams of two keys: those that planners are measured on."""

from __future__ import annotations

from pathlib import Path

from planning_streams import Named, all_streams

VEGA = "flights-3m.parquet"


def streams(folder: Path | None) -> list[Named]:
    """Of packages; and of the folder's `loaders.py`, with the flights of vega-datasets if there."""
    vega = folder / VEGA if folder and (folder / VEGA).exists() else None
    return all_streams(folder, vega)
