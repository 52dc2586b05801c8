"""`keyroute simulate`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from keyroute.cli.main import app
from keyroute.core.dump import decode


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    """Four days of 500 rows each, one every two minutes or so."""
    rng = np.random.default_rng(1)
    lines = ["at,user,page"]
    for minute in range(0, 4 * 1440, 3):
        user = int(rng.integers(0, 40))
        at = f"2026-01-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00"
        lines.append(f"{at},u{user},p{user // 4}")
    file = tmp_path / "visits.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["simulate", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def test_figures_are_printed_and_saved(stream: Path, tmp_path: Path) -> None:
    keys = ("--keys", "user,page", "--time", "at", "--period", "1d", "--parts", 2)
    code, printed, errors = run(stream, *keys, "--out", tmp_path / "out")
    assert code == 0, errors
    assert "2026-01-03" in printed
    assert "by hash" in printed
    saved = json.loads((tmp_path / "out" / "visits-metis.json").read_text())
    assert len(saved["periods"]) == 3
    # A user's pages are one: two partitions can hold them all together.
    assert saved["mean"]["locality_next"] > 0.95
    assert (tmp_path / "out" / "visits-metis.png").stat().st_size > 10_000
    code, printed, _ = run(stream, *keys, "--out", tmp_path / "out", "--json")
    again = json.loads(printed)
    for figures in (saved, again):
        for of in (*figures["periods"], figures["mean"]):
            del of["plan_s"]
    assert again == saved


def test_partitions_may_share_executors(stream: Path, tmp_path: Path) -> None:
    keys = ("--keys", "user,page", "--time", "at", "--period", "1d", "--out", tmp_path / "out")
    code, printed, errors = run(stream, *keys, "--parts", 6, "--executors", 2)
    assert code == 0, errors
    assert "6 partitions on 2 executors" in printed
    saved = json.loads((tmp_path / "out" / "visits-metis.json").read_text())
    assert (saved["parts"], saved["executors"]) == (6, 2)
    assert saved["mean"]["locality_next"] > 0.95
    code, _, errors = run(stream, *keys, "--parts", 6, "--executors", 7)
    assert (code, "7 executors are meant for 6 partitions" in errors) == (2, True)


def test_tables_of_times_and_long_names_are_not_folded(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    lines = (f"u{i % 7},p{i % 7},2026-01-01T{i // 60:02}:{i % 60:02}:00" for i in range(1440))
    path.write_text("\n".join(("a_name_of_a_user,a_name_of_a_page,at", *lines)) + "\n")
    keys = ("--keys", "a_name_of_a_user,a_name_of_a_page", "--time", "at", "--period", "6h")
    code, printed, errors = run(path, *keys, "--parts", 2, "--out", tmp_path / "out")
    assert code == 0, errors
    assert "2026-01-01 06:00" in printed
    table = [line for line in printed.splitlines() if line.startswith(("┃", "│"))]
    assert len(table) == 1 + 3 + 2
    assert max(map(len, table)) <= 80


def test_periods_of_rows_without_times_are_numbers(stream: Path, tmp_path: Path) -> None:
    keys = ("--keys", "user,page", "--rows", 500, "--parts", 2, "--out", tmp_path / "out")
    code, printed, errors = run(stream, *keys)
    assert code == 0, errors
    assert "number 1" in printed
    assert "1970" not in printed
    saved = json.loads((tmp_path / "out" / "visits-metis.json").read_text())
    assert {period["begins"] for period in saved["periods"]} == {""}
    assert (tmp_path / "out" / "visits-metis.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--keys", "user,page"), "one of --period and --rows"),
        (("--keys", "user,page", "--rows", 5, "--period", "1d"), "one of --period and --rows"),
        (("--keys", "user,page", "--period", "1d"), "needs --time"),
        (("--keys", "user,page", "--time", "at", "--period", "soon"), "no length of time"),
        (("--keys", "user,page", "--time", "at", "--period", "9d"), "shorter periods"),
        (("--keys", "user,page", "--time", "at", "--period", f"{9**400}d"), "shorter periods"),
        (("--keys", "user,none", "--rows", 500), "no column 'none'"),
        (("--keys", "user,user", "--rows", 500), "the key 'user' follows itself"),
        (("--keys", "user,page", "--rows", 500, "--option", "a=1"), "metis has no option 'a'"),
        (("--keys", "user,page", "--rows", 500, "--planner", "best"), "no planner 'best'"),
    ],
)
def test_wrong_usage_is_said(
    stream: Path, tmp_path: Path, options: tuple[object, ...], says: str
) -> None:
    code, _, errors = run(stream, *options, "--out", tmp_path / "out")
    assert code == 2
    assert says in " ".join(errors.split())
    assert not (tmp_path / "out").exists()


def test_the_gate_and_the_budget_hold_changes_back(stream: Path, tmp_path: Path) -> None:
    asked = (
        stream,
        "--keys",
        "user,page",
        "--rows",
        480,
        "--parts",
        2,
        "--out",
        tmp_path,
        "--json",
    )

    def changes(*options: object) -> list[int]:
        code, printed, errors = run(*asked, *options)
        assert code == 0, errors
        return [period["changes"] for period in json.loads(printed)["periods"]]

    assert changes("--steps", 1) == [1, 1, 1]
    # The first period has nothing to be judged on; later plans bring what hash does not.
    assert changes("--gate", "--steps", 1)[:2] == [0, 1]
    assert max(changes("--gate", "--steps", 8)) == 1
    code, printed, _ = run(*asked, "--max-moved", 0, "--steps", 1)
    assert code == 0
    assert all(period["moved_keys"] == 0 for period in json.loads(printed)["periods"])


def test_an_option_that_the_planner_does_not_have_is_refused(stream: Path, tmp_path: Path) -> None:
    asked = ("--keys", "user,page", "--rows", 480, "--option", "theta=1", "--out", tmp_path / "out")
    code, _, errors = run(stream, *asked)
    assert code != 0
    assert "metis has no option 'theta'" in " ".join(errors.split())


def test_a_dump_of_the_end_is_what_planners_take(stream: Path, tmp_path: Path) -> None:
    keys = ("--keys", "user,page", "--rows", 480, "--parts", 2, "--steps", 1)
    file = tmp_path / "visits.dump"
    code, _, errors = run(stream, *keys, "--out", tmp_path / "out", "--dump", file)
    assert code == 0, errors
    known = decode(file.read_bytes())
    # All four days, the last one under the last table, by which its rows stay where they are.
    assert [period.rows for period in known.statistics.periods] == [480] * 4
    assert known.current.version == known.statistics.periods[-1].table_version == 3
    assert known.statistics.placed == (0, 1)
    assert (known.statistics.periods[-1].measured_locality() or 0) > 0.9
    result = CliRunner().invoke(app, ["plan", str(file), "--json"])
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["locality"] > 0.9
