"""Replays of streams whose best answer is known, beside a plain count of their rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from keyroute import planners
from keyroute.core.hashes import spark_hash
from keyroute.core.plan import Plan, PlanRequest
from keyroute.core.table import GroupTable, no_tables
from keyroute.planners.metis import plan_metis
from keyroute.simulate.counting import Segment, count
from keyroute.simulate.replay import OPEN_TO_ALL, Setup, measure, replay
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


def test_pairs_are_local_where_their_partitions_share_an_executor() -> None:
    cuts = cut_by_rows(correlated(2), 3000)
    seen: list[PlanRequest] = []

    def by_parts(request: PlanRequest) -> Plan:
        seen.append(request)
        return Plan((), (0, 1, 1, 0), 0.0, {}, 0.0, 0, "partitions 0 and 3 to executor 0")

    (step,) = replay(cuts, Setup(by_parts, 4, executors=2))
    at, total = {"hash": 0, "planned": 0}, int(cuts[1].weights.sum())
    for i in range(3000):
        a, b = (int(cuts[1].codes(side)[i]) for side in (0, 1))
        up = spark_hash([f"a{a}"], ["string"])[0] % 1024 % 4
        down = spark_hash([b], ["bigint"])[0] % 1024 % 4
        at["hash"] += int(cuts[1].weights[i]) * (up % 2 == down % 2)
        at["planned"] += int(cuts[1].weights[i]) * ((up in (1, 2)) == (down in (1, 2)))
    assert step.hash.locality == pytest.approx(at["hash"] / total)
    assert step.next.locality == pytest.approx(at["planned"] / total)
    assert (seen[0].executors, seen[0].placed) == (2, (0, 1, 0, 1))
    for executors in (1, 5):
        with pytest.raises(BadStream, match=f"{executors} executors are meant for 4 partitions"):
            list(replay(cuts, Setup(by_parts, 4, executors=executors)))


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
    period = count(0, [Segment(cut, nothing)], shapes)
    total = int(cut.weights.sum())
    assert period.rows == total
    for group in period.groups:
        assert group.rows == group.slot_rows.sum() == group.partition_rows.sum() == total
        assert group.keys.counts.sum() == total
        assert (np.diff(group.keys.counts) <= 0).all()
    (edge,) = period.edges
    assert edge.pairs.counts.sum() == total
    assert edge.local_rows / total == pytest.approx(
        measure([Segment(cut, nothing)], shapes).locality
    )


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


class PlacesNewKeys:
    """Nothing by full plans; between them, all keys of the first operator to partition 0."""

    def __init__(self) -> None:
        self.asked: list[PlanRequest] = []

    def __call__(self, request: PlanRequest) -> Plan:
        (first, _) = request.shapes
        table = GroupTable(first, np.array([1]), np.array([0], np.int32))
        return Plan((table,), (), 0.0, {}, 0.0, 1, "one entry, of no key")

    def between(self, request: PlanRequest) -> Plan:
        self.asked.append(request)
        (first, _) = request.shapes
        keys = request.periods[-1].groups[0].keys
        prints = np.sort(np.append(keys.fingerprints, 1))
        table = GroupTable(first, prints, np.zeros(len(prints), np.int32))
        return Plan((table,), (), 0.0, {}, 0.0, len(prints), "new keys")


def test_each_row_goes_by_the_table_in_force_when_it_arrives() -> None:
    cuts = cut_by_rows(correlated(7), 3000)
    planner = PlacesNewKeys()
    (step,) = replay(cuts, Setup(planner, PARTS, steps=2))
    (asked,) = planner.asked
    half, following = asked.periods[-1], cuts[1]
    assert half.rows == int(following.weights[:1500].sum())
    by_hash = [spark_hash([f"a{i}"], ["string"])[0] % 1026 % PARTS for i in range(60)]
    rows = np.zeros(PARTS)
    local = 0
    known = set(following.codes(0)[:1500].tolist())
    for i in range(3000):
        a, b, w = int(following.codes(0)[i]), int(following.codes(1)[i]), following.weights[i]
        up = 0 if i >= 1500 and a in known else by_hash[a]
        rows[up] += w
        local += w * (up == spark_hash([b], ["bigint"])[0] % 1026 % PARTS)
    assert step.next.imbalance[0] == pytest.approx(rows.max() * PARTS / rows.sum())
    assert step.next.locality == pytest.approx(local / rows.sum())
    assert step.changes == 2


def test_moves_within_a_period_count() -> None:
    cuts = cut_by_rows(correlated(7), 3000)
    (step,) = replay(cuts, Setup(PlacesNewKeys(), PARTS, steps=2))
    following = cuts[1]
    by_hash = np.array([spark_hash([f"a{i}"], ["string"])[0] % 1026 % PARTS for i in range(60)])
    moved = by_hash[following.codes(0)[:1500]] != 0
    expected = following.weights[:1500][moved].sum() / (2 * following.weights.sum())
    assert step.moved_weight == pytest.approx(float(expected))
    assert step.moved_keys == int((by_hash != 0).sum())


def test_new_keys_go_to_their_partners_before_the_next_plan() -> None:
    rng = np.random.default_rng(8)
    partner = rng.integers(0, 40, 400)
    early = rng.integers(0, 200, 4000)
    a = np.concatenate([early, rng.integers(200, 400, 4000)])  # all keys are new in the second half
    stream = Stream(
        (
            column("a", "bigint", list(range(400)), a),
            column("b", "bigint", list(range(40)), partner[a]),
        ),
        np.ones(8000, np.int64),
        np.arange(8000, dtype=np.int64),
    )
    cuts = cut_by_rows(stream, 4000)
    (never,) = replay(cuts, Setup(planners.load("metis"), PARTS, steps=1))
    (often,) = replay(cuts, Setup(planners.load("metis"), PARTS, steps=8))
    assert never.next.locality < 0.5
    assert often.next.locality > 0.8


def test_only_an_ungated_replay_asks_for_places_between_plans() -> None:
    asked = []

    class Planner:
        def __call__(self, request: PlanRequest) -> Plan:
            return plan_metis(request)

        def between(self, request: PlanRequest) -> Plan:
            asked.append(request.periods)
            return plan_metis.between(request)

    cuts = cut_by_rows(correlated(9, rows=9000), 1500)
    list(replay(cuts, Setup(Planner(), PARTS, gate=OPEN_TO_ALL)))
    assert asked == []
    list(replay(cuts, Setup(Planner(), PARTS)))
    assert asked


def gated(stream: Stream) -> list[bool]:
    """Whether the gate let the tables change, for each period."""
    setup = Setup(planners.load("metis"), PARTS, gate=OPEN_TO_ALL)
    return [step.changes > 0 for step in replay(cut_by_rows(stream, stream.rows // 6), setup)]


def test_the_gate_lets_a_plan_pass_where_something_carries_over() -> None:
    assert any(gated(correlated(9, rows=9000)))


def test_the_gate_refuses_where_nothing_carries_over() -> None:
    base = correlated(9, rows=18000, keys=1200)  # so many keys that hash is balanced, too
    up, down = base.columns
    shuffled = replace(down, codes=np.random.default_rng(1).permutation(down.codes))
    assert not any(gated(replace(base, columns=(up, shuffled))))
