"""`keyroute plan`, as a user calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import streams
from keyroute.cli.exits import Exit
from keyroute.cli.main import app
from keyroute.cli.table_file import read_tables
from keyroute.core.dump import Dump, encode
from keyroute.core.plan import PlanSettings
from keyroute.core.statistics import QueryStatistics
from keyroute.core.table import no_tables
from keyroute.planners.metis import plan_metis

SHAPES = (streams.shape(0), streams.shape(1))


def _dump() -> Dump:
    periods = tuple(streams.count(streams.correlated(seed, 4000)) for seed in (1, 2))
    statistics = QueryStatistics("q", "run", "flights", periods, (), 0, 17)
    return Dump(statistics, SHAPES, no_tables("q"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "flights.dump"
    path.write_bytes(encode(_dump()))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["plan", *map(str, arguments)], env={"COLUMNS": "160"})


def test_a_plan_is_printed_and_its_tables_can_be_applied(file: Path, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    result = run(file, "--out", tables)
    assert result.exit_code == Exit.OK, result.stderr
    direct = plan_metis(_dump().request(PlanSettings()))
    assert f"{100 * direct.predicted_locality:.1f} %" in result.stdout
    assert "imbalance by k0" in result.stdout
    assert direct.why in result.stdout.replace("\n", " ")
    read = read_tables(tables.read_bytes(), SHAPES, "another run's id")
    assert read.groups == direct.groups


def test_more_executors_than_partitions_are_noted(file: Path) -> None:
    for executors, noted in ((3, False), (4, True)):
        result = run(file, "--planner", "hash", "--executors", executors)
        assert result.exit_code == Exit.OK, result.stderr
        said = "4 executors are meant, but there are only 3 partitions"
        assert (said in " ".join(result.stdout.split())) == noted


def test_programs_get_json(file: Path) -> None:
    result = run(file, "--planner", "hash", "--json")
    assert result.exit_code == Exit.OK, result.stderr
    said = json.loads(result.stdout)
    assert (said["planner"], said["name"], said["entries"]) == ("hash", "flights", 0)
    assert set(said["imbalance"]) == {"0", "1"}
    assert said["locality"] == pytest.approx(1 / 3, abs=0.01)
    assert said["state_rows_to_move"] == 0


def test_the_state_that_moves_is_told(file: Path) -> None:
    said = json.loads(run(file, "--json").stdout)
    # Where no state was counted a key has one row.
    assert said["state_rows_to_move"] == said["moved_keys"] > 100
    assert f"{said['moved_keys']:,}" in run(file).stdout.split("estimated")[1].splitlines()[0]


def test_a_half_life_may_be_infinite(file: Path) -> None:
    result = run(file, "--option", "half_life=inf", "--option", "load_half_life=inf")
    assert result.exit_code == Exit.OK, result.stderr
    assert "of all periods" in result.stdout


def test_without_pairs_locality_is_not_known(tmp_path: Path) -> None:
    dump = _dump()
    periods = tuple(replace(period, edges=()) for period in dump.statistics.periods)
    alone = replace(dump, statistics=replace(dump.statistics, periods=periods))
    path = tmp_path / "alone.dump"
    path.write_bytes(encode(alone))
    result = run(path)
    assert result.exit_code == Exit.OK, result.stderr
    assert "not known: no pairs of keys were counted" in result.stdout
    assert "for balance alone" in result.stdout
    assert json.loads(run(path, "--json").stdout)["locality"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--planner", "astrology"), Exit.USAGE, "no planner 'astrology'"),
        (("--option", "slots"), Exit.USAGE, "must look like NAME=NUMBER"),
        (("--option", "slots=many"), Exit.USAGE, "must look like NAME=NUMBER"),
        (("--option", "slots=nan"), Exit.USAGE, "must look like NAME=NUMBER"),
        (("--option", "seeds=inf"), Exit.USAGE, "option seeds must be from 1 to 100, not inf"),
        (("--option", "half_life=-inf"), Exit.USAGE, "must be from 0 to inf, not -inf"),
        (("--option", "a=1", "--option", "a=2"), Exit.USAGE, "a is there twice"),
        (("--option", "a=1"), Exit.USAGE, "--option: metis has no option 'a'"),
        (("--leaving", "99"), Exit.USAGE, "there is no part 99; there are: 0, 1, 2"),
        (("--out", "/nowhere/tables"), Exit.FAILED, "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(
    file: Path, arguments: tuple[str, ...], code: Exit, says: str
) -> None:
    result = run(file, *arguments)
    assert (result.exit_code, says in result.stderr.replace("\n", " ")) == (code, True), result


def test_a_file_that_cannot_be_used_is_refused(file: Path, tmp_path: Path) -> None:
    for path, data, says in (
        (tmp_path / "missing", None, "cannot be read: No such file"),
        (tmp_path / "cut", file.read_bytes()[:-9], "cut off or damaged"),
        (tmp_path / "later", b"keyroute dump 7\n", "format 7, and this version reads format 1"),
        (tmp_path / "other", b"a,b\n1,2\n", "does not begin with the line"),
    ):
        if data is not None:
            path.write_bytes(data)
        result = run(path)
        said = " ".join(result.stderr.split())
        assert (result.exit_code, says in said) == (Exit.FAILED, True), said
