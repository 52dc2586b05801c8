"""`keyroute keys`, as a user calls it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

import streams
from keyroute.cli.exits import Exit
from keyroute.cli.main import app
from keyroute.core.dump import Dump, encode
from keyroute.core.statistics import Period, QueryStatistics
from keyroute.core.table import no_tables

SHAPES = (streams.shape(0), streams.shape(1))


def _file(folder: Path, period: Period) -> Path:
    path = folder / "flights.dump"
    statistics = QueryStatistics("q", "run", "flights", (period,), (), 0, 17)
    path.write_bytes(encode(Dump(statistics, SHAPES, no_tables("q"))))
    return path


def _run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["keys", *map(str, arguments)], env={"COLUMNS": "160"})


def test_labels_are_shown_and_steer_no_terminal(tmp_path: Path) -> None:
    period = streams.count(streams.correlated(1, 2000))
    group = period.groups[0]
    order = group.keys.counts.argsort()
    labels = [""] * len(order)
    labels[order[-1]] = "N1\x1b[31m[bold]"
    labelled = replace(group, keys=replace(group.keys, labels=tuple(labels)))
    file = _file(tmp_path, replace(period, groups=(labelled, period.groups[1])))
    shown = _run(file)
    assert shown.exit_code == Exit.OK, shown.stderr
    assert "N1\N{REPLACEMENT CHARACTER}[31m[bold]" in shown.stdout
    assert "\x1b[31m" not in shown.stdout
    said = json.loads(_run(file, "--json", "--top", 5).stdout)
    assert [key["group"] for key in said] == [0] * 5 + [1] * 5
    assert said[0]["label"] == "N1\x1b[31m[bold]"
    assert said[0]["rows"] == group.keys.counts.max()


def test_without_labels_it_says_why(tmp_path: Path) -> None:
    shown = _run(_file(tmp_path, streams.count(streams.correlated(1, 500))))
    assert "statistics.labels was 0" in shown.stdout
    assert _run(tmp_path / "missing").exit_code == Exit.FAILED
