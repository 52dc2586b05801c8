"""The key graph: one vertex a key, decayed weights, tails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import streams
from keyroute.core.graph import build
from keyroute.core.statistics import KeyCounts

CHAIN = (np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6]), np.array([9, 9, 9, 9]))
SHAPES = tuple(streams.shape(g) for g in range(3))


def test_a_key_in_the_middle_of_a_chain_is_one_vertex() -> None:
    graph = build(SHAPES, [streams.count(CHAIN)], 4.0, 1.0)
    assert graph.vertices == 5
    assert np.bincount(graph.group).tolist() == [2, 2, 1]
    middle = int(np.flatnonzero(graph.fingerprint == streams.fingerprints(1, np.array([5]))[0])[0])
    assert ((graph.edge_from == middle) | (graph.edge_to == middle)).sum() == 3
    assert graph.weight[middle] == 3
    assert graph.edge_weight.sum() == 8
    assert graph.tail_load.tolist() == [0, 0, 0]


def test_weights_decay_slower_than_loads() -> None:
    graph = build(SHAPES, [streams.count(CHAIN)] * 3, half_life=2.0, load_half_life=1.0)
    weeks, last = 1 + 0.5**0.5 + 0.5, 1 + 0.5 + 0.25
    assert graph.edge_weight.sum() == pytest.approx(8 * weeks)
    assert graph.weight.sum() == pytest.approx(12 * weeks)
    assert graph.load.sum() == pytest.approx(12 * last)
    assert graph.group_load == pytest.approx([4 * last] * 3)


def test_rows_of_keys_that_no_sketch_holds_are_tail() -> None:
    period = streams.count((np.array([1, 1, 2, 3]),))
    group = period.groups[0]
    two = KeyCounts(4, group.keys.fingerprints[:2], group.keys.counts[:2], np.array([0, 1]))
    graph = build(
        (SHAPES[0],),
        [replace(period, groups=(replace(group, keys=two),))],
        half_life=4,
        load_half_life=1,
    )
    assert graph.load.sum() + graph.tail_load[0] == 4
    assert graph.tail_load[0] == 4 - (group.keys.counts[:2] - [0, 1]).sum()


def test_a_group_without_routing_columns_has_only_tail() -> None:
    plain = replace(SHAPES[1], routing_ordinals=())
    graph = build((SHAPES[0], plain, SHAPES[2]), [streams.count(CHAIN)], 4.0, 1.0)
    assert np.bincount(graph.group, minlength=3).tolist() == [2, 0, 1]
    assert graph.edges == 0
    assert graph.tail_load.tolist() == [0, 4, 0]


def test_pairs_whose_upstream_key_is_unknown_give_no_edges() -> None:
    period = streams.count(CHAIN)
    unknown = replace(period.edges[0], upstream_group=-1)
    graph = build(SHAPES, [replace(period, edges=(unknown, period.edges[1]))], 4.0, 1.0)
    assert graph.edge_weight.sum() == 4


def test_no_periods_give_an_empty_graph() -> None:
    graph = build(SHAPES, [], 4.0, 1.0)
    assert (graph.vertices, graph.edges) == (0, 0)
    assert graph.group_load.tolist() == [0, 0, 0]
