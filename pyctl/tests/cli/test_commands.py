"""The command line without servers: usage, exit codes, help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import keyroute
from keyroute.cli.exits import Exit, code_of
from keyroute.cli.main import app
from keyroute.controller.overview import Overview
from keyroute.gateway.errors import GatewayUnreachable, TokenRefused
from keyroute.zookeeper.errors import Conflict, StoreUnreachable

NOBODY = "127.0.0.1:1"


@pytest.fixture
def runner() -> CliRunner:
    return CliRunner()


def test_the_version_is_printed(runner: CliRunner) -> None:
    assert runner.invoke(app, ["version"]).stdout.strip() == keyroute.__version__
    assert runner.invoke(app, ["--version"]).stdout.strip() == keyroute.__version__
    said = json.loads(runner.invoke(app, ["version", "--json"]).stdout)
    assert said["version"] == keyroute.__version__


@pytest.mark.parametrize(
    "command",
    [
        ["controller"],
        ["status"],
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
        (["controller", "--planner", "astrology"], "no planner 'astrology'"),
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


def test_an_empty_overview_is_a_sentence() -> None:
    from keyroute.cli.status import render

    assert "No application" in str(render(Overview((), ()), "/keyroute"))
