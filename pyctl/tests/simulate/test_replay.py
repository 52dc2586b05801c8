"""Replays of streams whose best answer is known, beside a plain count of their rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from keyroute import planners
from keyroute.core.hashes import spark_hash
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupTable, no_tables
from keyroute.simulate.counting import count
from keyroute.simulate.replay import Setup, measure, replay
from keyroute.simulate.result import Replay, to_json
from keyroute.simulate.stream import QUERY, BadStream, Stream, column, cut_by_rows

PARTS = 3


def correlated(seed: int, rows: int = 6000, keys: int = 60) -> Stream:
    """Key i of the first operator goes with key i // 2 of the second, nine times of ten."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, keys, rows)
    b = np.where(rng.random(rows) < 0.9, a // 2, rng.integers(0, keys // 2, rows))
    return Stream(
        (
            column("a", "string", [f"a{i}" for i in range(keys)], a),
            column("b", "bigint", list(range(keys // 2)), b),
        ),
        rng.integers(1, 4, rows).astype(np.int64),
        np.arange(rows, dtype=np.int64),
    )


def test_tables_planned_on_one_period_bring_locality_on_the_next() -> None:
    steps = list(replay(cut_by_rows(correlated(1), 2000), Setup(planners.load("metis"), PARTS)))
    assert [s.period for s in steps] == [0, 1]
    for step in steps:
        assert step.next.locality > 0.8
        assert step.hash.locality < 0.5
        assert max(step.next.imbalance) < 1.2
    assert steps[0].moved_keys > 0
    assert steps[1].moved_weight < steps[0].moved_weight
    # What the step before brought on rows that it had not seen.
    assert [s.predicted for s in steps] == [None, steps[0].next.locality]


def test_figures_are_those_of_a_plain_count() -> None:
    cuts = cut_by_rows(correlated(2), 3000)
    seen: list[PlanRequest] = []

    def everything_to_one(request: PlanRequest) -> Plan:
        seen.append(request)
        shape = request.shapes[0]
        prints = np.sort([spark_hash([f"a{i}"], ["string"])[1] for i in range(10)])
        table = GroupTable(shape, prints, np.full(10, 1, np.int32))
        return Plan((table,), (), 0.0, {}, 0.0, 0, "ten keys to partition 1")

    (step,) = replay(cuts, Setup(everything_to_one, PARTS))
    following = cuts[1]
    rows: Counter[int] = Counter()
    local = moved = total = 0
    for i in range(3000):
        a, b = int(following.codes(0)[i]), int(following.codes(1)[i])
        w = int(following.weights[i])
        by_hash = spark_hash([f"a{a}"], ["string"])[0] % 1026 % PARTS
        up = 1 if a < 10 else by_hash
        rows[up] += w
        local += w * (up == spark_hash([b], ["bigint"])[0] % 1026 % PARTS)
        total += w
    assert seen[0].shapes[0].slots == 1026
    assert step.next.locality == pytest.approx(local / total)
    assert step.next.imbalance[0] == pytest.approx(max(rows.values()) * PARTS / total)
    first = cuts[0]
    for i in range(3000):
        a = int(first.codes(0)[i])
        leaves = a < 10 and spark_hash([f"a{a}"], ["string"])[0] % 1026 % PARTS != 1
        moved += int(first.weights[i]) * leaves
    assert step.moved_weight == pytest.approx(moved / (2 * int(first.weights.sum())))


def test_keys_that_were_not_seen_yet_do_not_count_as_moved() -> None:
    codes = np.repeat(np.arange(20), 10)  # the first period has keys 0 to 9, the second the others
    names = [f"k{i}" for i in range(20)]
    both = tuple(column(name, "string", names, codes) for name in ("a", "b"))
    stream = Stream(both, np.ones(200, np.int64), np.arange(200, dtype=np.int64))

    def all_slots_to_one(request: PlanRequest) -> Plan:
        tables = tuple(
            GroupTable(s, np.empty(0, np.int64), np.empty(0, np.int32), np.zeros(s.slots, np.int32))
            for s in request.shapes
        )
        return Plan(tables, (), 0.0, {}, 0.0, 0, "all to partition 0")

    (step,) = replay(cut_by_rows(stream, 100), Setup(all_slots_to_one, PARTS))
    leaving = sum(spark_hash([n], ["string"])[0] % 1026 % PARTS != 0 for n in names[:10])
    assert 0 < leaving < 10
    assert step.moved_keys == 2 * leaving


def test_planners_see_all_keys_pairs_and_slots_of_a_period() -> None:
    (cut,) = cut_by_rows(correlated(3), 6000)
    shapes = tuple(c.shape(i, PARTS) for i, c in enumerate(cut.stream.columns))
    nothing = no_tables(QUERY)
    period = count(0, cut, shapes, nothing)
    total = int(cut.weights.sum())
    assert period.rows == total
    for group in period.groups:
        assert group.rows == group.slot_rows.sum() == group.partition_rows.sum() == total
        assert group.keys.counts.sum() == total
        assert (np.diff(group.keys.counts) <= 0).all()
    (edge,) = period.edges
    assert edge.pairs.counts.sum() == total
    assert edge.local_rows / total == pytest.approx(measure(cut, shapes, nothing).locality)


def test_three_keys_make_two_edges() -> None:
    base = correlated(4)
    three = Stream((*base.columns, base.columns[0]), base.weights, base.times)
    steps = list(replay(cut_by_rows(three, 3000), Setup(planners.load("metis"), PARTS)))
    assert len(steps[0].next.imbalance) == 3
    assert steps[0].next.locality > 0.8


def test_json_has_what_its_readers_count_on() -> None:
    steps = tuple(replay(cut_by_rows(correlated(5), 2000), Setup(planners.load("metis"), PARTS)))
    figures = to_json(Replay("metis", PARTS, ("a", "b"), steps))
    assert (figures["planner"], figures["parts"], len(figures["periods"])) == ("metis", PARTS, 2)
    mean = figures["mean"]
    for name in ("locality_next", "locality_same"):
        assert mean[name] == pytest.approx(np.mean([p[name] for p in figures["periods"]]))
    assert len(mean["imbalance_next"]) == 2
    assert mean["prediction_error"] == pytest.approx(
        abs(figures["periods"][1]["predicted"] - figures["periods"][1]["locality_next"])
    )
    assert mean["moved_keys"] == np.mean([p["moved_keys"] for p in figures["periods"]])


@pytest.mark.parametrize(("rows", "parts", "says"), [(6000, 3, "1 period long"), (3000, 1, "two")])
def test_what_cannot_be_measured_is_refused(rows: int, parts: int, says: str) -> None:
    with pytest.raises(BadStream, match=says):
        list(replay(cut_by_rows(correlated(6), rows), Setup(planners.load("metis"), parts)))
