"""The command line without servers: usage, exit codes, help."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

import keyroute
from keyroute.cli.exits import Exit, code_of
from keyroute.cli.main import app
from keyroute.cli.status import render
from keyroute.controller.overview import (
    ChangeOverview,
    GroupOverview,
    OperatorOverview,
    Overview,
    QueryOverview,
)
from keyroute.gateway.errors import GatewayUnreachable, TokenRefused
from keyroute.zookeeper.errors import Conflict, StoreUnreachable
from keyroute.zookeeper.payloads import Application
from keyroute.zookeeper.predictions import PredictionRecord

NOBODY = "127.0.0.1:1"


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_the_version_is_printed(runner: CliRunner) -> None:
    assert runner.invoke(app, ["version"]).stdout.strip() == keyroute.__version__
    assert runner.invoke(app, ["--version"]).stdout.strip() == keyroute.__version__
    said = json.loads(runner.invoke(app, ["version", "--json"]).stdout)
    assert said["version"] == keyroute.__version__


def test_commands_do_not_wait_for_what_only_planners_need() -> None:
    code = "import sys, keyroute.cli.main; print(sorted({'scipy', 'pymetis'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "command",
    [
        ["controller"],
        ["status"],
        ["dump"],
        ["plan"],
        ["zookeeper"],
        ["demo"],
        ["jar"],
        ["tables", "apply"],
        ["tables", "list"],
    ],
)
def test_help_tells_the_exit_codes(runner: CliRunner, command: list[str]) -> None:
    result = runner.invoke(app, [*command, "--help"], env={"COLUMNS": "200"})
    assert result.exit_code == Exit.OK
    assert "3 ZooKeeper" in result.stdout


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["controller", "--json"], "--json needs --once"),
        (["controller", "--holdout-rows", "0"], "Invalid value for '--holdout-rows'"),
        (["controller", "--planner", "astrology"], "no planner 'astrology'"),
        (["controller", "--option", "theta"], "must look like NAME=NUMBER"),
        (["controller", "--option", "theta=1"], "metis has no option 'theta'"),
        (["controller", "--planner", "albic", "--option", "capacity=-1"], "must be from 0 to inf"),
        (["controller", "--planner", "autoflow", "--option", "mu=1"], "autoflow has no option"),
        (["controller", "--planner", "dkg", "--option", "mu=1.5"], "must be a whole number"),
        (["controller", "--planner", "hash", "--option", "mu=1"], "it has: none"),
        (["status", "--watch", "--json"], "choose one"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_connected(
    runner: CliRunner, command: list[str], says: str
) -> None:
    result = runner.invoke(app, [*command, "--zookeeper", NOBODY])
    assert result.exit_code == Exit.USAGE
    assert says in result.stderr


@pytest.mark.parametrize("root", ["keyroute", "/", "/a//b"])
def test_a_wrong_root_is_wrong_usage(runner: CliRunner, root: str) -> None:
    result = runner.invoke(app, ["status", "--root", root])
    assert result.exit_code == Exit.USAGE
    assert "must look like /keyroute" in result.stderr


@pytest.mark.parametrize("address", ["nohost:xx", "127.0.0.1:70000"])
def test_an_address_that_is_none_is_wrong_usage(runner: CliRunner, address: str) -> None:
    result = runner.invoke(app, ["status", "--zookeeper", address])
    assert result.exit_code == Exit.USAGE
    assert "must be HOST:PORT" in result.stderr.replace("\n", " ")


def test_an_open_secret_is_refused(runner: CliRunner, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a:b")
    secret.chmod(0o644)
    result = runner.invoke(app, ["status", "--zookeeper-auth-file", str(secret)])
    assert result.exit_code == Exit.FAILED
    assert "chmod 600" in result.stderr


def test_errors_have_the_code_of_their_kind() -> None:
    assert code_of(StoreUnreachable("")) == Exit.UNREACHABLE
    assert code_of(GatewayUnreachable("")) == Exit.UNREACHABLE
    assert code_of(Conflict("")) == Exit.FAILED
    assert code_of(TokenRefused("")) == Exit.FAILED


def _rendered(overview: Overview) -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(render(overview, "/keyroute"))
    return console.export_text()


def test_an_empty_overview_is_a_sentence() -> None:
    assert "No application with KeyRoute runs under /keyroute" in _rendered(Overview((), ()))


QUERY = QueryOverview(
    query_id="q-1",
    name="flights",
    running=True,
    app_id="app-1",
    run_id="run",
    version=3,
    since_batch=40,
    wanted=4,
    versions=(3, 4),
    change=ChangeOverview("ABORT", 4, 0, "too many rows [to move]", "me", 0, 0.0, 0.0, 0),
    groups=(
        GroupOverview(0, (0, 2), ("window", "k"), ("struct<…>", "string"), ("k",), 3),
        GroupOverview(3, (3,), ("day",), ("date",), (), 3),
    ),
    operators=(
        OperatorOverview(0, "dedupe", 0, True, ""),
        OperatorOverview(1, "join", 1, False, "stream-stream joins are not routed"),
    ),
    batch=52,
    batches_seen=10,
    locality=0.8125,
    imbalance={0: 1.04},
    median_batch_ms=1234.0,
    waiting="",
    bypass="",
    problem="",
)


def test_an_overview_tells_tables_reasons_and_figures() -> None:
    application = Application("app-1", "127.0.0.1", 4567, "0.1.0", "4.3.0")
    text = _rendered(Overview((application,), (QUERY,)))
    for said in (
        "127.0.0.1:4567",
        "Query flights  q-1",
        "3, since batch 40",
        "version 4, ABORT: too many rows [to move]",
        "81.2 %",
        "group 0: 1.04",
        "1,234 ms",
        "no: stream-stream joins are not routed",
        "window struct<…>, k string",
        "no keys, slots only",
    ):
        assert said in text


def test_predictions_are_shown_beside_what_came_true() -> None:
    records = tuple(
        PredictionRecord(version, 0.845, 1.04, 0.831, 1.07, 26_000) for version in range(1, 6)
    )
    text = _rendered(Overview((), (replace(QUERY, predictions=records, locality_error=0.014),)))
    assert "version 5" in text
    assert "version 2" not in text
    assert "locality 84.5 %, 83.1 %; imbalance 1.04, 1.07" in text
    assert "1.4 points of locality in the mean of 5" in text
    assert "predicted" not in _rendered(Overview((), (QUERY,)))


def test_a_table_without_a_batch_yet_has_no_figures() -> None:
    query = replace(QUERY, batches_seen=0, locality=None, imbalance={}, median_batch_ms=None)
    text = _rendered(Overview((), (query,)))
    assert "no batch has ended under the table in force yet" in text
    assert "locality" not in text


def test_an_overview_without_the_driver_says_so() -> None:
    query = replace(QUERY, batch=None, version=0, change=None, problem="there is no token")
    text = _rendered(Overview((), (query,)))
    assert "only ZooKeeper's part is shown: there is no token" in text
    assert "none: Spark's own routing" in text
    assert "locality" not in text
