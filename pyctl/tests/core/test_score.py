"""Scores where slots are not known: what a table would have done on a period."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core import score
from keyroute.core.plan import Topology
from keyroute.core.statistics import PairCounts
from keyroute.core.table import GroupTable, RoutingTables, no_tables

A, B = np.array([1, 1, 2, 3]), np.array([7, 7, 7, 8])
PERIOD = streams.without_slots(streams.count((A, B)))


def tables(a: dict[int, int], b: dict[int, int], parts: tuple[int, ...] = ()) -> RoutingTables:
    return RoutingTables(1, "q", (entries(0, a), entries(1, b)), parts)


def entries(group: int, targets: dict[int, int]) -> GroupTable:
    prints = streams.fingerprints(group, np.array(list(targets), np.int64))
    order = np.argsort(prints)
    return GroupTable(
        streams.shape(group), prints[order], np.array(list(targets.values()), np.int32)[order]
    )


def test_known_keys_are_local_where_they_share_a_partition() -> None:
    placed = tables({1: 0, 2: 1, 3: 2}, {7: 0, 8: 2})
    assert score.locality(placed, [PERIOD]) == pytest.approx(3 / 4)


def test_keys_without_an_entry_are_anywhere_with_equal_chance() -> None:
    assert score.locality(no_tables("q"), [PERIOD]) == pytest.approx(1 / 3)
    half = tables({1: 0}, {7: 0})
    assert score.locality(half, [PERIOD]) == pytest.approx((2 + 2 / 3) / 4)


def test_rows_of_pairs_that_no_sketch_holds_count_likewise() -> None:
    edge = PERIOD.edges[0]
    first = PairCounts(4, *(a[:1] for a in _arrays(edge.pairs)))
    rows = int(first.counts[0])
    period = replace(PERIOD, edges=(replace(edge, pairs=first),))
    placed = tables({1: 0, 2: 0, 3: 0}, {7: 0, 8: 0})
    assert score.locality(placed, [period]) == pytest.approx((rows + (4 - rows) / 3) / 4)


def test_partitions_of_one_part_are_local_to_each_other() -> None:
    apart = {1: 0, 2: 0, 3: 2}, {7: 1, 8: 0}
    assert score.locality(tables(*apart), [PERIOD]) == 0
    assert score.locality(tables(*apart, parts=(0, 0, 1)), [PERIOD]) == pytest.approx(3 / 4)
    hashed = RoutingTables(1, "q", (), (0, 0, 1))
    assert score.locality(hashed, [PERIOD]) == pytest.approx(5 / 9)


def test_what_is_local_without_parts_is_told_by_the_placement() -> None:
    apart = {1: 0, 2: 0, 3: 2}, {7: 1, 8: 0}
    assert score.locality(tables(*apart), [PERIOD], (0, 0, 1)) == pytest.approx(3 / 4)
    assert score.locality(no_tables("q"), [PERIOD], (0, 0, 0)) == 1
    # Parts are a promise of the placement to come.
    assert score.locality(tables(*apart, parts=(0, 1, 2)), [PERIOD], (0, 0, 1)) == 0


def test_no_pairs_have_no_locality() -> None:
    assert score.locality(no_tables("q"), [streams.count((A,))]) is None


def test_expected_imbalance_spreads_what_is_not_explicit() -> None:
    placed = tables({1: 0}, {7: 2, 8: 2})
    assert score.expected_imbalance(placed, [PERIOD]) == pytest.approx(
        {0: (2 + 2 / 3) * 3 / 4, 1: 3.0}
    )
    assert score.expected_imbalance(no_tables("q"), [PERIOD]) == pytest.approx({0: 1, 1: 1})


def test_measured_imbalance_adds_up_over_periods() -> None:
    first, second = (
        replace(PERIOD, groups=(replace(PERIOD.groups[0], partition_rows=np.array(rows)),))
        for rows in ([4, 0, 0], [0, 4, 4])
    )
    assert score.measured_imbalance([first]) == {0: 3.0}
    assert score.measured_imbalance([first, second]) == {0: 1.0}


def test_levels_are_nested_and_left_out_where_not_known() -> None:
    apart = tables({1: 0, 2: 0, 3: 2}, {7: 1, 8: 0})
    assert score.locality_by_level(apart, [PERIOD], Topology()) == {"executor": 0.0}
    levels = score.locality_by_level(apart, [PERIOD], Topology((0, 0, 1), (0, 0, 0)))
    assert levels == pytest.approx({"executor": 0.0, "host": 3 / 4, "zone": 1.0})
    in_two = tables({1: 0, 2: 0, 3: 2}, {7: 1, 8: 0}, parts=(1, 0, 1))
    levels = score.locality_by_level(in_two, [PERIOD], Topology((0, 1), (0, 0)))
    assert levels == pytest.approx({"executor": 1 / 4, "host": 1 / 4, "zone": 1.0})
    assert score.locality_by_level(in_two, [PERIOD], Topology((0,))) == {"executor": 1 / 4}


def test_a_hot_key_sets_the_floor() -> None:
    assert score.floors([PERIOD], 1.03) == pytest.approx({0: 1.5, 1: 9 / 4})
    assert score.floors([PERIOD], 1.6) == pytest.approx({1: 9 / 4})


def _arrays(pairs: PairCounts) -> tuple[streams.Ids, ...]:
    return pairs.upstream, pairs.downstream, pairs.counts, pairs.errors
