"""Real streams of two keys: flights of a package, and those of a folder where there is one.

The folder may have `git_commits.parquet` and `nyc_green_taxi_2022_01.parquet`, whose columns are
ts, key1, key2 and value, and `flights-3m.parquet` of the package vega-datasets. What is not there
is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from keyroute.core.table import Int64Array
from keyroute.simulate.reader import FLIGHTS, read
from keyroute.simulate.stream import Cut, Stream, cut_by_time

DAY_NS = 86_400 * 10**9
GIT_SINCE = np.datetime64("2014-01-01", "ns").astype(np.int64)


@dataclass(frozen=True)
class Named:
    """A stream and the length of its periods."""

    name: str
    load: Callable[[], Stream]
    days: int

    def cuts(self) -> list[Cut]:
        """Its periods."""
        return cut_by_time(self.load(), self.days * DAY_NS)


def all_streams(folder: Path | None) -> list[Named]:
    """Flights first; the longest others last."""
    found = [
        Named(f"flights {up}, {down}", partial(_flights, up, down), 7)
        for up, down in (
            ("tailnum", "dest"),
            ("tailnum", "route"),
            ("flightno", "tailnum"),
            ("carrier", "route"),
        )
    ]
    return [*found, *(_folder(folder) if folder else ())]


def messages(stream: Stream, column: int) -> Int64Array:
    """The keys of one column, one a record."""
    return stream.columns[column].codes


def _folder(folder: Path) -> Iterator[Named]:
    git, vega, taxi = (
        folder / name
        for name in ("git_commits.parquet", "flights-3m.parquet", "nyc_green_taxi_2022_01.parquet")
    )
    if git.exists():
        yield Named("git, month", partial(_git, git, None), 30)
        yield Named("git by files, quarter", partial(_git, git, "value"), 91)
    if taxi.exists():
        yield Named("green taxi", lambda: read(str(taxi), ("key1", "key2"), "ts", None), 7)
    if vega.exists():
        yield Named(
            "vega flights",
            lambda: read(str(vega), ("origin", "destination"), "date", None),
            7,
        )


def _flights(up: str, down: str) -> Stream:
    stream = read(FLIGHTS, ("tailnum", up, down), "time", None)
    flown = np.array([value is not None for value in stream.columns[0].values])
    kept = _only(stream, flown[stream.columns[0].codes])
    return replace(kept, columns=kept.columns[1:])


def _git(path: Path, weight: str | None) -> Stream:
    stream = read(str(path), ("key1", "key2"), "ts", weight)
    return _only(stream, stream.times >= GIT_SINCE)


def _only(stream: Stream, rows: NDArray[np.bool_]) -> Stream:
    return Stream(
        tuple(replace(c, codes=c.codes[rows]) for c in stream.columns),
        stream.weights[rows],
        stream.times[rows],
    )
