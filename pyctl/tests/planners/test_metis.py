"""The METIS planner on streams whose best answer is known."""

from __future__ import annotations

import ctypes
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pymetis
import pytest

import streams
from keyroute import planners
from keyroute.core.graph import build
from keyroute.core.plan import BadOption, CannotPlan, PlanRequest, PlanSettings
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, no_tables
from keyroute.core.table_codec import encode
from keyroute.planners.assignment import pose
from keyroute.planners.metis_cut import cut

ROWS = 20_000


def ask(*periods: Period, current: RoutingTables | None = None) -> PlanRequest:
    shapes = tuple(g.shape for g in periods[-1].groups)
    return PlanRequest("q", shapes, periods, current or no_tables("q"))


@pytest.mark.parametrize("n", [2, 3, 6])
def test_a_correlated_stream_becomes_local_and_balanced(n: int) -> None:
    plan = planners.load("metis")(ask(streams.count(streams.correlated(1, ROWS), n=n)))
    fresh = streams.correlated(2, ROWS)
    locality, worst = streams.measure(plan.tables(1, "q"), fresh, n)
    assert locality > 0.87
    assert worst < 1.08
    assert plan.worst_imbalance <= 1.03 + 1e-9
    assert plan.predicted_locality == pytest.approx(locality, abs=0.03)


def test_each_group_is_balanced_not_only_their_sum() -> None:
    rng = np.random.default_rng(3)
    # Ten upstream keys of very unequal weight, each with downstream keys of its own: a cut that
    # follows the pairs alone would be unbalanced.
    a = rng.choice(40, ROWS, p=np.arange(1, 41) / 820)
    b = a * 3 + rng.integers(0, 3, ROWS)
    plan = planners.load("metis")(ask(streams.count((a, b))))
    assert max(plan.predicted_imbalance.values()) <= 1.03 + 1e-9
    assert set(plan.predicted_imbalance) == {0, 1}


def test_a_key_too_hot_for_the_bound_sets_the_floor() -> None:
    rng = np.random.default_rng(4)
    a = np.where(rng.random(ROWS) < 0.5, 0, rng.integers(1, 500, ROWS))
    plan = planners.load("metis")(ask(streams.count((a, rng.integers(0, 500, ROWS)))))
    hottest = float((a == 0).mean())
    assert plan.predicted_imbalance[0] == pytest.approx(3 * hottest, abs=0.01)
    assert plan.predicted_imbalance[1] <= 1.03 + 1e-9
    assert f"; group 0 stays at an imbalance of at least {3 * hottest:.2f}, because" in plan.why
    assert "group 1" not in plan.why


def test_the_heaviest_keys_get_the_entries_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keyroute.planners.metis.MAX_ENTRIES", 10)
    rng = np.random.default_rng(4)
    a = rng.choice(40, ROWS, p=np.arange(1, 41) / 820)
    plan = planners.load("metis")(ask(streams.count((a, a))))
    ten = np.argsort(-np.bincount(a))[:10]
    for group in plan.groups:
        heaviest = streams.fingerprints(group.shape.group, ten)
        assert group.fingerprints.tolist() == sorted(heaviest.tolist())


def test_three_operators_in_a_chain_share_partitions() -> None:
    a, b = streams.correlated(5, ROWS, loyalty=1.0)
    _, c = streams.correlated(5, ROWS, loyalty=1.0)
    plan = planners.load("metis")(ask(streams.count((a, b, c))))
    assert plan.predicted_locality > 0.97
    assert len(plan.groups) == 3


@pytest.mark.parametrize("partitions", [12, 11])
def test_keys_that_occur_together_share_an_executor_in_partitions_of_even_load(
    partitions: int,
) -> None:
    # A cluster is as large as an executor: it fits in no partition.
    rng = np.random.default_rng(7)
    cluster = rng.integers(0, 3, ROWS)
    a, b = (cluster + 3 * rng.integers(0, 40, ROWS) for _ in range(2))
    rows = ((a, b), (a[: ROWS // 2], b[: ROWS // 2]))
    first, later = (streams.count(r, n=partitions) for r in rows)
    meant = replace(ask(first), executors=3)
    plan = planners.load("metis")(meant)
    by_partition = planners.load("metis")(ask(first))
    assert sorted(np.bincount(plan.parts).tolist()) == [partitions // 3, 4, 4]
    assert by_partition.predicted_locality < 0.4
    # Where all are of one size: else a cluster is torn.
    assert plan.predicted_locality > (0.99 if partitions == 12 else 0.9)
    assert plan.worst_imbalance < 1.03 + 1e-9
    again = planners.load("metis")(
        replace(ask(first, later), executors=3, current=plan.tables(1, "q"))
    )
    assert again.parts == plan.parts
    # Parts in force are filled as they are.
    parts = tuple(sorted(plan.parts))
    in_force = replace(meant, current=RoutingTables(1, "q", (), parts))
    assert planners.load("metis")(in_force).parts == parts
    assert again.moved_weight < 0.05


def test_metis_prints_nothing_of_few_keys_beside_parts(capfd: pytest.CaptureFixture[str]) -> None:
    users = np.arange(ROWS) % 60
    plan = planners.load("metis")(ask(streams.count((users, users * 0), n=32)))
    # What C holds back would come later, into the JSON of a command.
    ctypes.CDLL(None).fflush(None)
    os.write(1, b"all of it\n")
    assert capfd.readouterr().out == "all of it\n"
    assert "a fresh METIS cut" in plan.why


def test_the_half_life_is_that_of_pairs_within_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    period = streams.count(streams.correlated(1, ROWS), n=6)
    asked = replace(ask(period), executors=2)
    plan = planners.load("metis")(asked)
    seen: list[tuple[set[int], int]] = []

    def spy(*given: Any) -> float:
        *_, at, places, otherwise = given
        seen.append((set(at.tolist()), places))
        return float(otherwise)

    monkeypatch.setattr("keyroute.planners.metis.best_half_life", spy)
    planners.load("metis")(replace(asked, current=plan.tables(1, "q")))
    assert seen == [({0, 1}, 2)]


def test_a_cut_gives_parts_rows_by_their_partitions() -> None:
    period = streams.count(streams.correlated(1, ROWS), n=4)
    graph = build(tuple(g.shape for g in period.groups), [period], 4.0, 1.0)
    nowhere = np.full(graph.vertices, -1, np.int32)
    problem = pose(graph, np.array([0, 0, 0, 1], np.int32), 1.03, nowhere, 0.03)
    parts = cut(problem, range(1))
    assert parts is not None
    rows = np.bincount(parts, graph.load)
    assert rows[0] / rows.sum() == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(
    ("half_life", "says"),
    [(2, "with a half-life of 2"), (np.inf, "of all periods"), (0, "of the last period")],
)
def test_a_half_life_that_is_given_is_taken(half_life: float, says: str) -> None:
    period = streams.count(streams.correlated(1, ROWS))
    current = planners.load("metis")(ask(period)).tables(1, "q")
    asked = ask(period, period, period, current=current)
    asked = replace(asked, settings=PlanSettings(options={"half_life": half_life}))
    assert says in planners.load("metis")(asked).why


def test_its_options_are_the_settings_that_others_share() -> None:
    rng = np.random.default_rng(1)
    weight = np.arange(1, 201)
    a = rng.choice(200, ROWS, p=weight / weight.sum())
    b = (a * 7 + rng.integers(0, 9, ROWS)) % 300
    # Light keys become heavy.
    old, new = streams.count((a, b)), streams.count((199 - a, b))
    first = ask(old, new)
    later = ask(old, new, current=planners.load("metis")(ask(old)).tables(1, "q"))

    def table(request: PlanRequest, settings: PlanSettings) -> bytes:
        plan = planners.load("metis")(replace(request, settings=settings))
        return encode(plan.tables(2, "q"))

    cases = (("load_half_life", 8, first), ("seeds", 1, first), ("seed", 7, first))
    for name, value, request in (*cases, ("move_cost", 1, later)):
        by_option = table(request, PlanSettings(options={name: value}))
        by_field = table(request, replace(PlanSettings(), **{name: value}))
        assert by_option == by_field != table(request, PlanSettings()), name
    with pytest.raises(BadOption, match="option seeds must be a whole number"):
        table(first, PlanSettings(options={"seeds": 1.5}))


def test_nothing_moves_when_nothing_changed() -> None:
    period = streams.count(streams.correlated(1, ROWS))
    first = planners.load("metis")(ask(period))
    again = planners.load("metis")(ask(period, period, current=first.tables(1, "q")))
    assert again.moved_weight < 0.01
    assert again.predicted_locality >= first.predicted_locality - 0.005


def test_keys_not_seen_lately_keep_their_entries() -> None:
    first = planners.load("metis")(ask(streams.count(streams.correlated(1, ROWS))))
    a, b = streams.correlated(2, ROWS)
    in_force = first.tables(1, "q")
    later = planners.load("metis")(ask(streams.count((a[a < 150], b[a < 150])), current=in_force))
    seen = streams.fingerprints(0, a[a < 150])
    absent = ~np.isin(in_force.groups[0].fingerprints, seen)
    assert absent.sum() > 100
    kept = later.groups[0].explicit(in_force.groups[0].fingerprints[absent])
    assert kept.tolist() == in_force.groups[0].targets[absent].tolist()


def test_the_same_request_gives_the_same_bytes() -> None:
    request = ask(streams.count(streams.correlated(1, ROWS)))
    plans = [planners.load("metis")(request) for _ in range(2)]
    assert encode(plans[0].tables(1, "q")) == encode(plans[1].tables(1, "q"))


def test_a_failure_of_metis_falls_back_to_greedy_placement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("METIS_ERROR")

    monkeypatch.setattr(pymetis, "part_graph", fail)
    plan = planners.load("metis")(ask(streams.count(streams.correlated(1, ROWS))))
    assert plan.why.startswith("greedy placement")
    assert plan.predicted_locality > 0.6
    assert plan.worst_imbalance <= 1.03 + 1e-9


@pytest.mark.parametrize(("clusters", "cuts"), [(30, 0), (20, 1)])
def test_only_a_stream_that_changed_is_cut_again(
    clusters: int, cuts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = planners.load("metis")(ask(streams.count(streams.correlated(1, ROWS))))
    made: list[object] = []
    real = pymetis.part_graph
    monkeypatch.setattr(pymetis, "part_graph", lambda *a, **k: made.append(a) or real(*a, **k))
    later = streams.count(streams.correlated(2, ROWS, clusters=clusters))
    planners.load("metis")(ask(later, current=first.tables(1, "q")))
    assert len(made) == cuts


def test_fewer_keys_than_partitions() -> None:
    plan = planners.load("metis")(ask(streams.count((np.array([1, 1, 2]), np.array([4, 4, 4])))))
    assert plan.groups[0].entries == 2


def test_a_single_operator_is_balanced() -> None:
    ids = np.random.default_rng(6).zipf(1.5, ROWS) % 1000
    plan = planners.load("metis")(ask(streams.count((ids,))))
    hottest = float(np.bincount(ids).max()) / ROWS
    assert plan.worst_imbalance <= max(1.03, 3 * hottest) + 1e-6


def test_parts_take_together_what_pairs_are_left() -> None:
    request = ask(streams.count(streams.correlated(7, ROWS, clusters=3, keys=60), n=6))
    plan = planners.load("metis")(replace(request, executors=3))
    apart = planners.load("metis")(request)
    assert sorted(plan.parts) == [0, 0, 1, 1, 2, 2]
    assert plan.predicted_locality > apart.predicted_locality + 0.1
    assert apart.parts == ()


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (PlanRequest("q", (), (), no_tables("q")), "no group to plan for"),
        (PlanRequest("q", (streams.shape(0),), (), no_tables("q")), "no keys were counted"),
        (
            PlanRequest("q", (streams.shape(0), streams.shape(1, 6)), (), no_tables("q")),
            r"different numbers of partitions: \[3, 6\]",
        ),
    ],
)
def test_what_cannot_be_planned_is_said(request_: PlanRequest, sentence: str) -> None:
    with pytest.raises(CannotPlan, match=sentence):
        planners.load("metis")(request_)


def test_moves_cost_locality() -> None:
    first = planners.load("metis")(ask(streams.count(streams.correlated(1, ROWS))))
    drifted = streams.count(streams.correlated(99, ROWS, clusters=20))
    request = ask(drifted, current=first.tables(1, "q"))
    cheap = planners.load("metis")(replace(request, settings=PlanSettings(move_cost=0.0)))
    dear = planners.load("metis")(replace(request, settings=PlanSettings(move_cost=0.5)))
    assert dear.moved_weight < cheap.moved_weight
