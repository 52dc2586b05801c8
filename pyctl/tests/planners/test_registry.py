"""Planners by name."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import get_args

import pytest

import streams
from keyroute import planners
from keyroute.cli.planner_options import PlannerOption
from keyroute.core.plan import CannotPlan, PlanRequest, PlanSettings
from keyroute.core.table import empty, no_tables
from keyroute.planners import hash as hash_planner


def test_the_default_and_the_way_back_are_built_in() -> None:
    assert {planners.DEFAULT, "hash"} <= set(planners.names())


def test_all_built_in_ones_are_entry_points_of_the_package() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    section = text.split(f'[project.entry-points."{planners.GROUP}"]')[1].split("\n[")[0]
    named = dict(re.findall(r'^(\w+) = "(.+)"$', section, re.MULTILINE))
    assert {"albic", "autoflow", "dkg", "hash", "metis"} == named.keys()
    for name, value in named.items():
        assert EntryPoint(name, value, planners.GROUP).load() is planners.load(name)


def test_the_commands_name_all_built_in_ones() -> None:
    said = get_args(PlannerOption)[1].help
    assert all(re.search(rf"\b{name}\b", said) for name in planners._BUILT_IN)


def test_whole_numbers_are_not_cut() -> None:
    period = streams.count(streams.correlated(1, 2_000))
    shapes = tuple(g.shape for g in period.groups)
    for name, options in (
        ("albic", ("collocations",)),
        ("autoflow", ("window", "rounds")),
        ("dkg", ("mu",)),
    ):
        for option in options:
            settings = PlanSettings(options={option: 2.7})
            request = PlanRequest("q", shapes, (period,), no_tables("q"), settings=settings)
            with pytest.raises(CannotPlan, match=f"option {option} must be a whole number"):
                planners.load(name)(request)


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        planners.UnknownPlanner,
        match=r"no planner 'metsi'; there are: albic, autoflow, dkg, hash, metis",
    ):
        planners.load("metsi")


def test_another_package_adds_a_planner(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("ours", "keyroute.planners.hash:plan_hash", planners.GROUP)
    monkeypatch.setattr(planners, "entry_points", lambda **_: EntryPoints([entry]))
    assert "ours" in planners.names()
    assert planners.load("ours") is hash_planner.plan_hash


def test_hash_plans_empty_tables() -> None:
    plan = planners.load("hash")(PlanRequest("q", (streams.shape(0),), (), no_tables("q")))
    assert plan.groups == (empty(streams.shape(0)),)


def test_hash_says_what_may_move() -> None:
    period = streams.without_slots(streams.count(streams.correlated(1, 2_000)))
    shapes = tuple(g.shape for g in period.groups)
    before = planners.load("metis")(PlanRequest("q", shapes, (period,), no_tables("q")))
    request = PlanRequest("q", shapes, (period,), before.tables(1, "q"))
    plan = planners.load("hash")(request)
    assert plan.predicted_locality == pytest.approx(1 / 3)
    assert plan.moved_weight == pytest.approx(2 / 3)
    assert plan.moved_keys == sum(g.entries for g in before.groups)
