"""`keyroute demo`: real flights through two chained operators, reconfigured while they run."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from keyroute.demo import exactness, flights, job, plot, result
from keyroute.demo.recording import Recording
from keyroute.demo.watch import Watch
from keyroute.jar import find_jar
from keyroute.zookeeper.server import ZooKeeperServer

BATCHES = 40
_MARK = ".keyroute-demo"
_FILES_PER_BATCH = 3


class DemoFailed(Exception):
    """The demo could not be run to its end: the text says why and which log to read."""


def run(work: Path, console: Console) -> dict[str, Any]:
    """Runs the demo in the folder `work`: new, empty, or an earlier demo's.

    Returns what it wrote to result.json. Raises DemoFailed.
    """
    started = time.monotonic()
    example = _example()
    work = work.absolute()
    empty(work)

    console.print(
        f"The controller runs with {' '.join(job.CONTROLLER_FLAGS)}; all else is default."
    )
    with console.status("cutting the flights into batches"):
        input_ = flights.write(flights.load(), work / "in", BATCHES, _FILES_PER_BATCH)
    with console.status("starting ZooKeeper"), ZooKeeperServer() as zookeeper:
        run = job.Job(example, find_jar(), work, zookeeper.connect_string, work / "token")
        recording = _run_job(run, input_, console)

    with console.status("comparing with a batch computation"):
        sink = exactness.read_sink(work / "out")
        differences = exactness.differences(sink, input_.table)
    figures = {
        "exact": not differences,
        "rows": len(sink),
        "batches": sum(p.name.isdigit() for p in (work / "checkpoint" / "commits").iterdir()),
        **result.summary(recording, input_.table, BATCHES, job.PARTITIONS),
        "seconds": round(time.monotonic() - started, 1),
    }
    figures["shortfalls"] = result.shortfalls(figures)
    (work / "result.json").write_text(json.dumps(figures, indent=2) + "\n")
    plot.draw(recording, input_.last_day, work / "locality.png")

    console.print(result.as_table(figures))
    for reconfiguration in figures["reconfigurations"]:
        console.print(result.sentence(reconfiguration, input_.last_day))
    for difference in differences:
        console.print(f"[red]NOT EXACT[/]: {difference}")
    for shortfall in figures["shortfalls"]:
        console.print(f"[red]NOT AS IT MUST BE[/]: {shortfall}")
    if not differences:
        console.print(
            f"Exact: {len(sink):,} flights, each airplane's and each route's numbered without gap "
            "or repeat, all totals equal to a batch computation."
        )
    console.print(f"Figures and picture: {work / 'result.json'}, {work / 'locality.png'}")
    return figures


def empty(work: Path) -> None:
    """Makes the folder anew. Raises DemoFailed where it holds what no demo has written."""
    if work.exists():
        if any(work.iterdir()) and not (work / _MARK).exists():
            raise DemoFailed(f"{work} holds what no demo has written: name another folder")
        shutil.rmtree(work)
    work.mkdir(parents=True)
    (work / _MARK).touch()


def _example() -> Path:
    path = Path(__file__).parents[3] / "examples" / "airline.py"
    if not path.exists():
        raise DemoFailed("the demo runs from a source checkout: clone the project, run `make demo`")
    return path


def _run_job(run: job.Job, input_: flights.Flights, console: Console) -> Recording:
    controller = run.start_controller()
    spark = run.start_spark()
    watch = Watch(run.zookeeper, run.token_file)
    try:
        with Live(Text("starting Spark"), console=console, refresh_per_second=4) as live:
            watch.follow(
                running=lambda: spark.poll() is None,
                show=lambda recording: live.update(_progress(recording, input_)),
            )
        controller_ended = controller.poll() is not None
    finally:
        job.stop(spark)
        job.stop(controller)
    if spark.returncode != 0:
        raise DemoFailed(f"the query failed: see {run.work / 'spark.log'}")
    if controller_ended:
        raise DemoFailed(f"the controller ended early: see {run.work / 'controller.log'}")
    return watch.recording


def _progress(recording: Recording, input_: flights.Flights) -> Text:
    done = [b for b in recording.batches if b < len(input_.last_day)]
    if not done:
        return Text("starting Spark")
    last = recording.batches[max(done)]
    locality = last.local_rows / last.edge_rows if last.edge_rows else 0.0
    table = f"table {last.table_version}" if last.table_version else "no table"
    return Text(
        f"{input_.last_day[last.batch]}  batch {last.batch + 1} of {len(input_.last_day)}  "
        f"{table} in force  measured locality {locality:.0%}  switches {len(recording.switches)}"
    )
