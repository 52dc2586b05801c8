"""Options of the commands that plan: which planner, and its settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

import typer

from keyroute.cli.exits import Usage
from keyroute.core.plan import BadOption, CannotPlan, Planner, PlanRequest, PlanSettings
from keyroute.core.table import no_tables

SETTINGS = PlanSettings()

PlannerOption = Annotated[
    str | None,
    typer.Option(
        "--planner",
        metavar="NAME",
        help="metis (the default), albic, autoflow, dkg, hash, or one that is installed.",
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="A setting of the planner's own; may be repeated."
    ),
]
AlphaOption = Annotated[
    float, typer.Option("--alpha", min=1.0, help="Bound of each operator's imbalance (max/mean).")
]
MaxMovedOption = Annotated[
    float,
    typer.Option(
        "--max-moved",
        min=0.0,
        max=1.0,
        metavar="SHARE",
        help="Share of each operator's rows whose key may move at once, for planners that keep a "
        "budget.",
    ),
]
ExecutorsOption = Annotated[
    int,
    typer.Option(
        "--executors",
        min=0,
        help="Executors a query is meant to have, where it has more partitions than that: "
        "partitions whose keys occur together then share one. 0: plan by partition.",
    ),
]


def load_planner(name: str | None) -> tuple[str, Planner]:
    """A planner and its name. Raises Usage."""
    # Planners bring SciPy and METIS, which the other commands need not wait for.
    from keyroute import planners

    name = name or planners.DEFAULT
    try:
        return name, planners.load(name)
    except planners.UnknownPlanner as error:
        raise Usage(f"--planner: {error}.") from error


def plan_settings(alpha: float, max_moved: float, given: Sequence[str] | None) -> PlanSettings:
    """Settings of a plan. Raises Usage where an option is no NAME=VALUE, or is there twice."""
    options: dict[str, float] = {}
    for text in given or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not name or not equals or math.isnan(number):
            raise Usage(f"--option: {text!r} must look like NAME=NUMBER.")
        if name in options:
            raise Usage(f"--option: {name} is there twice.")
        options[name] = number
    return PlanSettings(alpha=alpha, max_moved=max_moved, options=options)


def check_options(planner: Planner, settings: PlanSettings) -> None:
    """Has the planner look at its options before there is anything to plan. Raises Usage."""
    nothing = PlanRequest("", (), (), no_tables(""), settings=settings)
    try:
        planner(nothing)
    except BadOption as error:
        raise Usage(f"--option: {error}.") from error
    except CannotPlan:  # There is nothing to plan for.
        return
