"""`keyroute controller`: the daemon, or one plan with --once and --dry-run."""

from __future__ import annotations

import logging
import sys
import threading
from dataclasses import asdict
from typing import Annotated

import typer

from keyroute.cli import options
from keyroute.cli import planner_options as planning
from keyroute.cli.exits import Exit, Refused, Usage, sentences
from keyroute.cli.output import percent, print_json, print_table, progress, ratio, say
from keyroute.cli.signals import stop_on_signals
from keyroute.controller.attendance import AttendanceSettings, Attendant, Clock
from keyroute.controller.daemon import Daemon
from keyroute.controller.once import OnceReport, run_once
from keyroute.controller.planning import Planning
from keyroute.core.decision import DecisionSettings
from keyroute.gateway.client import Py4jGateways
from keyroute.zookeeper.election import Leadership, controller_id
from keyroute.zookeeper.store import Store

_DECISION = DecisionSettings()
_TURN_S = 10.0


def controller(
    zookeeper: options.ZooKeeperOption = options.CONNECT,
    root: options.RootOption = options.ROOT,
    auth_file: options.AuthFileOption = None,
    token_file: options.TokenFileOption = None,
    interval_s: Annotated[
        float, typer.Option("--interval", min=0.1, metavar="SECONDS", help="Between plans.")
    ] = 30.0,
    planner: planning.PlannerOption = None,
    option: planning.SettingsOption = None,
    min_rows: Annotated[
        int, typer.Option(min=1, help="Counted rows that a plan needs.")
    ] = _DECISION.min_rows,
    min_gain: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Locality a change must gain; 0.05 is 5 points."),
    ] = _DECISION.min_gain,
    holdout_rows: Annotated[
        int,
        typer.Option(
            min=1, help="A plan is judged on the newest periods of so many rows, each whole."
        ),
    ] = _DECISION.holdout_rows,
    hysteresis: Annotated[
        float,
        typer.Option(
            min=0.0,
            metavar="SHARE",
            help="How much more a change must gain right after another; 0.5 is half as much again.",
        ),
    ] = _DECISION.hysteresis,
    sureness: Annotated[
        float,
        typer.Option(
            min=0.0, help="How many times its standard error a gain must be: few keys tell little."
        ),
    ] = _DECISION.sureness,
    horizon_s: Annotated[
        float,
        typer.Option(
            "--horizon",
            min=1.0,
            metavar="SECONDS",
            help="Within what time a change must make good what it costs.",
        ),
    ] = 3600.0,
    row_cost: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="What moving a row of state costs, in rows that go to another executor.",
        ),
    ] = _DECISION.row_cost,
    new_keys_rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="Rows after which keys without a place may get one, between full plans, where the "
            "planner can do that and it is worth a change (0: never).",
        ),
    ] = 0,
    imbalance_threshold: Annotated[
        float,
        typer.Option(
            min=1.0, help="Imbalance (max/mean) above which a change for balance alone is made."
        ),
    ] = _DECISION.imbalance_threshold,
    min_imbalance_gain: Annotated[
        float, typer.Option(min=0.0, help="By how much such a change must lower it.")
    ] = _DECISION.min_imbalance_gain,
    max_locality_loss: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, help="Locality that it may cost; 1 where balance is all that counts."
        ),
    ] = _DECISION.max_locality_loss,
    alpha: planning.AlphaOption = planning.SETTINGS.alpha,
    max_moved: planning.MaxMovedOption = planning.SETTINGS.max_moved,
    executors: planning.ExecutorsOption = 0,
    prepare_timeout_s: Annotated[
        float,
        typer.Option(
            "--prepare-timeout",
            min=1.0,
            metavar="SECONDS",
            help="How long a driver may take to acknowledge a table.",
        ),
    ] = 60.0,
    once: Annotated[
        bool, typer.Option("--once", help="Plan and apply once for each running query, and exit.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plans and change nothing; implies --once.")
    ] = False,
    timeout_s: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="With --once: for each switch.")
    ] = 300.0,
    as_json: options.JsonOption = False,
) -> None:
    """Finds running queries, plans their tables from their own counts and changes them.

    Runs until SIGTERM or SIGINT. Several may run: one works, the others wait for their turn and go
    on where it stopped. Logs a sentence an interval for each query. With --once or --dry-run it
    exits with 0 also where no query runs or no plan is worth its moves, with 1 where a change was
    given up or other writers were faster, with 3 where a query's statistics could not be read, with
    4 where a switch is not over.
    """
    with sentences():
        if as_json and not (once or dry_run):
            raise Usage("--json needs --once or --dry-run.")
        chosen = planning.load_planner(planner)[1]
        plan_settings = planning.plan_settings(alpha, max_moved, option)
        planning.check_options(chosen, plan_settings)
        plans = Planning(
            chosen,
            DecisionSettings(
                min_rows=min_rows,
                min_gain=min_gain,
                min_interval_ms=int(interval_s * 1000),
                imbalance_threshold=imbalance_threshold,
                min_imbalance_gain=min_imbalance_gain,
                max_locality_loss=max_locality_loss,
                holdout_rows=holdout_rows,
                hysteresis=hysteresis,
                sureness=sureness,
                row_cost=row_cost,
            ),
            plan_settings,
            executors,
            horizon_s,
            new_keys_rows,
        )
        settings = AttendanceSettings(controller_id(), interval_s, prepare_timeout_s, dry_run)
        with (
            stop_on_signals() as stop,
            options.open_store(zookeeper, root, auth_file) as store,
        ):
            attendant = Attendant(store, Py4jGateways(token_file), plans, settings)
            if once or dry_run:
                _once(attendant, stop, timeout_s, as_json)
            else:
                _log_to_stderr()
                Daemon(attendant, lambda: _turn(store, settings.by), stop).run()


def _turn(store: Store, by: str) -> Leadership:
    return Leadership(store.tables.session.client, store.tree, by)


def _once(attendant: Attendant, stop: threading.Event, timeout_s: float, as_json: bool) -> None:
    turn = _turn(attendant.store, attendant.settings.by)
    if not attendant.settings.dry_run and not turn.acquire(stop, _TURN_S):
        raise Refused("Another controller is at work: stop it first, or let it do this.")
    try:
        with progress("planning", quiet=as_json) as shown:
            reports = run_once(attendant, stop, timeout_s, Clock(), shown.tell)
    finally:
        turn.release()
    _print(reports, as_json)
    code = _code(reports)
    if code:
        raise typer.Exit(code)


def _code(reports: tuple[OnceReport, ...]) -> Exit:
    """Of the worst that befell any query; a plan that is not worth its moves is no failure."""
    if any(report.failed for report in reports):
        return Exit.FAILED
    if any(report.unread for report in reports):
        return Exit.UNREACHABLE
    return Exit.TIMEOUT if any(report.unfinished for report in reports) else Exit.OK


def _print(reports: tuple[OnceReport, ...], as_json: bool) -> None:
    if as_json:
        print_json([asdict(report) for report in reports])
        return
    if not reports:
        say("No query runs.")
    for report in reports:
        say(f"{report.label}: {report.sentence}")
        if report.plan is not None:
            plan = report.plan
            rows = [
                ("predicted locality", percent(plan.predicted_locality)),
                ("predicted imbalance", ratio(plan.predicted_imbalance)),
                ("keys that move", f"{plan.moved_keys:,}"),
                ("share of rows that move", percent(plan.moved_weight)),
                ("entries", f"{plan.entries:,}"),
            ]
            print_table("Plan", ("", "value"), rows)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
    log = logging.getLogger("keyroute")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
