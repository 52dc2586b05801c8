"""`keyroute plan`: any planner on a dump."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from keyroute.cli import planner_options as planning
from keyroute.cli.exits import Refused, Usage, sentences
from keyroute.cli.files import read_whole, write_whole
from keyroute.cli.options import JsonOption
from keyroute.cli.output import percent, print_json, print_table, progress, ratio, say
from keyroute.core import table_codec
from keyroute.core.dump import Dump, InvalidDump, decode
from keyroute.core.plan import BadOption, CannotPlan, Plan
from keyroute.core.table import InvalidTable, RoutingTables
from keyroute.core.worth import rows_to_move


def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of `keyroute dump`.")],
    planner: planning.PlannerOption = None,
    option: planning.SettingsOption = None,
    alpha: planning.AlphaOption = planning.SETTINGS.alpha,
    max_moved: planning.MaxMovedOption = planning.SETTINGS.max_moved,
    executors: planning.ExecutorsOption = 0,
    leaving: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="PART", help="A part to be emptied; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLES", dir_okay=False, help="Write the tables, for `keyroute tables apply`."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Runs a planner on a dump and prints what its plan should bring. Changes nothing."""
    with sentences():
        name, run = planning.load_planner(planner)
        settings = planning.plan_settings(alpha, max_moved, option)
        dump = _read(file)
        request = dump.request(settings, executors, frozenset(leaving or ()))
        unknown = sorted(request.leaving.difference(request.parts))
        if unknown:
            there = ", ".join(map(str, request.parts))
            raise Usage(f"--leaving: there is no part {unknown[0]}; there are: {there}.")
        began = time.perf_counter()
        try:
            with progress(f"Planning with {name}", quiet=as_json):
                made = run(request)
                tables = made.tables(dump.current.version + 1, dump.statistics.query_id)
        except BadOption as error:
            raise Usage(f"--option: {error}.") from error
        except (CannotPlan, InvalidTable) as error:
            raise Refused(f"There is no plan: {error}.") from error
        seconds = time.perf_counter() - began
        if out is not None:
            write_whole(out, table_codec.encode(tables))
        if as_json:
            print_json(_as_json(name, dump, made, tables, seconds))
        else:
            _print(name, dump, made, tables, seconds)
            if out is not None:
                say(f"Tables: {out}")


def _read(file: Path) -> Dump:
    data = read_whole(file)
    try:
        return decode(data)
    except InvalidDump as error:
        raise Refused(f"{file} is no dump that can be used: {error}.") from error


def _entries(tables: RoutingTables) -> int:
    return sum(group.entries for group in tables.groups)


def _as_json(
    name: str, dump: Dump, made: Plan, tables: RoutingTables, seconds: float
) -> dict[str, object]:
    return {
        "planner": name,
        "query_id": dump.statistics.query_id,
        "name": dump.statistics.name,
        "version": dump.current.version,
        "locality": made.predicted_locality,
        "locality_by_level": dict(made.locality_by_level),
        "imbalance": {str(group): value for group, value in made.predicted_imbalance.items()},
        "floors": {str(group): value for group, value in made.floors.items()},
        "moved_weight": made.moved_weight,
        "moved_keys": made.moved_keys,
        "state_rows_to_move": rows_to_move(dump.current, tables, dump.statistics.to_plan_from),
        "entries": _entries(tables),
        "parts": list(made.parts),
        "why": made.why,
        "seconds": seconds,
    }


def _print(name: str, dump: Dump, made: Plan, tables: RoutingTables, seconds: float) -> None:
    columns = {shape.group: ", ".join(shape.key_names) for shape in dump.shapes}
    if made.predicted_locality is not None:
        rows = [("predicted locality", percent(made.predicted_locality))]
        rows += [
            (f"  within {level}", percent(share)) for level, share in made.locality_by_level.items()
        ]
    else:
        rows = [("predicted locality", "not known: no pairs of keys were counted")]
    for group, value in made.predicted_imbalance.items():
        floor = made.floors.get(group)
        least = f", at least {ratio(floor)} by any table" if floor is not None else ""
        rows.append((f"imbalance by {columns.get(group, group)}", f"{ratio(value)}{least}"))
    rows += [
        ("keys that move", f"{made.moved_keys:,}"),
        ("share of rows that move", percent(made.moved_weight)),
        (
            "rows of state that move, estimated",
            f"{rows_to_move(dump.current, tables, dump.statistics.to_plan_from):,}",
        ),
        ("entries", f"{_entries(tables):,}"),
        ("planned in", f"{seconds:.2f} s"),
    ]
    of = dump.statistics.name or dump.statistics.query_id
    print_table(f"Plan of {name} for {of}", ("", "value"), rows)
    if dump.note:
        say(f"Beware: {dump.note}.")
    say(made.why)
