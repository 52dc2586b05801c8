"""`keyroute simulate`: what tables would have brought on a stream, without Spark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keyroute.cli import planner_options as planning
from keyroute.cli.exits import Refused, Usage, sentences
from keyroute.cli.files import write_whole
from keyroute.cli.options import JsonOption
from keyroute.cli.output import percent, print_json, print_table, progress, ratio, say
from keyroute.core.dump import encode
from keyroute.core.plan import BadOption, CannotPlan

if TYPE_CHECKING:
    from keyroute.simulate.result import Replay, Step
    from keyroute.simulate.stream import Cut

_PERIOD = re.compile(r"(\d+)\s*(s|m|h|d|w)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def simulate(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="A .csv, a .parquet, or the name flights.")
    ],
    keys: Annotated[
        str, typer.Option("--keys", metavar="KEY1,KEY2,…", help="Keys of the operators, in order.")
    ],
    time: Annotated[
        str | None, typer.Option("--time", metavar="COLUMN", help="Orders the rows.")
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option("--weight", metavar="COLUMN", help="How many rows each row stands for."),
    ] = None,
    period: Annotated[
        str | None,
        typer.Option("--period", metavar="7d", help="Plan after so much time: s m h d w."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, help="Plan after so many records.")
    ] = None,
    parts: Annotated[
        int, typer.Option("--parts", min=2, help="Partitions, each on an executor of its own.")
    ] = 6,
    executors: Annotated[
        int,
        typer.Option(
            "--executors",
            min=0,
            help="Executors, where those are fewer. 0: one for each partition.",
        ),
    ] = 0,
    planner: planning.PlannerOption = None,
    alpha: planning.AlphaOption = planning.SETTINGS.alpha,
    max_moved: planning.MaxMovedOption = planning.SETTINGS.max_moved,
    option: planning.SettingsOption = None,
    steps: Annotated[
        int,
        typer.Option("--steps", min=1, help="New keys get a place so often in a period."),
    ] = 8,
    gate: Annotated[
        bool,
        typer.Option(
            "--gate/--no-gate", help="Change tables only where a controller would: worth its moves."
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", file_okay=False, help="Folder of the JSON and the PNG.")
    ] = Path("simulation"),
    dump: Annotated[
        Path | None,
        typer.Option(
            "--dump",
            dir_okay=False,
            help="Also write what a driver would know at the end, for `keyroute plan`.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replays a stream period by period: tables planned from what came before, used on the next.

    Saves OUT/NAME-PLANNER.json and .png. `keyroute simulate flights --keys tailnum,dest --time time
    --period 7d` needs no file.
    """
    with sentences():
        try:
            from keyroute import planners
            from keyroute.simulate import plot, reader, result, stream
            from keyroute.simulate.replay import OPEN_TO_ALL, Setup
        except ImportError as error:
            raise Refused(
                f"simulate needs {error.name}: pip install 'keyroute[simulate]'."
            ) from error
        planner = planner or planners.DEFAULT
        names = [name.strip() for name in keys.split(",") if name.strip()]
        try:
            keep = None if dump is None else (lambda known: write_whole(dump, encode(known)))
            setup = Setup(
                planners.load(planner),
                parts,
                planning.plan_settings(alpha, max_moved, option),
                steps,
                OPEN_TO_ALL if gate else None,
                executors,
                keep,
            )
            with progress(f"Reading {source}", quiet=as_json):
                read = reader.read(source, names, time, weight)
            cuts = _cut(read, time, period, rows)
            taken = tuple(_shown(cuts, setup, as_json))
        except (planners.UnknownPlanner, stream.BadStream) as error:
            raise Usage(f"{error}.") from error
        except BadOption as error:
            raise Usage(f"--option: {error}.") from error
        except CannotPlan as error:
            raise Refused(f"There is no plan: {error}.") from error
        done = result.Replay(planner, parts, tuple(names), taken, executors)
        name = f"{Path(source).stem}-{planner}"
        try:
            out.mkdir(parents=True, exist_ok=True)
            figures = result.to_json(done)
            (out / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
            plot.draw(done, out / f"{name}.png")
        except OSError as error:
            raise Refused(f"The results cannot be written: {error}.") from error
        if as_json:
            print_json(figures)
        else:
            _print(done)
            say(f"Figures: {out / name}.json, .png")


def _cut(read: object, time: str | None, period: str | None, rows: int | None) -> list[Cut]:
    from keyroute.simulate.stream import Stream, cut_by_rows, cut_by_time

    assert isinstance(read, Stream)
    if (period is None) == (rows is None):
        raise Usage("Give one of --period and --rows: after what a plan is made.")
    if rows is not None:
        return cut_by_rows(read, rows)
    assert period is not None
    if time is None:
        raise Usage("--period needs --time: the column that orders the rows.")
    found = _PERIOD.fullmatch(period.strip())
    if found is None or int(found[1]) == 0:
        raise Usage(f"--period: {period!r} is no length of time such as 7d, 12h or 30m.")
    return cut_by_time(read, int(found[1]) * _SECONDS[found[2]] * 1_000_000_000)


def _shown(cuts: list[Cut], setup: object, quiet: bool) -> Iterator[Step]:
    from keyroute.simulate.replay import Setup, replay

    assert isinstance(setup, Setup)
    with progress("Planning after the first period", quiet=quiet) as bar:
        for step in replay(cuts, setup):
            local = percent(step.next.locality)
            bar.tell(f"Period {step.period + 1} of {len(cuts) - 1}: locality {local}")
            yield step


def _print(done: Replay) -> None:
    columns = ["period from", "local", "next", "foreseen", "imbalance", "moved", "rows"]
    # The date alone where it tells periods apart, or else the minute.
    begins = [step.begins for step in done.steps]
    length = next((n for n in (10, 16) if len({b[:n] for b in begins}) == len(begins)), None)
    names = [b[:length] for b in begins]
    steps = [
        _row(step, name or f"number {step.period + 1}")
        for step, name in zip(done.steps, names, strict=True)
    ]
    print_table(
        f"{done.planner}, {done.places}: locality on its period and the next, imbalance\n"
        f"(max/mean) on the next by {'/'.join(done.keys)}, keys moved and their share of the rows",
        columns,
        [*steps, _means(done), _hash(done)],
    )


def _row(step: Step, after: str) -> list[object]:
    return [
        after.replace("T", " "),
        *map(percent, (step.same.locality, step.next.locality, step.predicted)),
        "/".join(map(ratio, step.next.imbalance)),
        step.moved_keys,
        percent(step.moved_weight),
    ]


def _means(done: Replay) -> list[object]:
    error = done.prediction_error
    return [
        "mean",
        percent(done.mean(lambda s: s.same.locality)),
        percent(done.mean(lambda s: s.next.locality)),
        "-" if error is None else f"± {percent(error)}",
        "/".join(map(ratio, done.mean_imbalance(lambda s: s.next))),
        round(done.mean(lambda s: s.moved_keys)),
        percent(done.mean(lambda s: s.moved_weight)),
    ]


def _hash(done: Replay) -> list[object]:
    local = percent(done.mean(lambda s: s.hash.locality))
    by_key = "/".join(map(ratio, done.mean_imbalance(lambda s: s.hash)))
    return ["by hash", "", local, "", by_key, 0, ""]
