"""Parts by hosts: near parts are those with most pairs left, and no swap of names is better."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streams
from keyroute.core.plan import PlanRequest, Topology
from keyroute.core.table import RoutingTables, no_tables
from keyroute.planners.answer import parts_of
from keyroute.planners.parts import on_hosts


def pairs(*heavy: tuple[int, int], n: int = 4) -> np.ndarray:
    between = np.ones((n, n)) - np.eye(n)
    for a, b in heavy:
        between[a, b] = between[b, a] = 50.0
    return between


def hosts_of(parts: tuple[int, ...], topology: Topology) -> list[int]:
    return [topology.hosts[p] for p in parts]


def test_partitions_with_most_pairs_share_a_host() -> None:
    topology = Topology(hosts=(0, 0, 1, 1))
    parts = on_hosts(pairs((0, 2), (1, 3)), 110.0, (), topology)
    assert sorted(parts) == [0, 1, 2, 3]
    hosts = hosts_of(parts, topology)
    assert hosts[0] == hosts[2]
    assert hosts[1] == hosts[3]


def test_parts_of_several_partitions_keep_together() -> None:
    topology = Topology(hosts=(0, 1, 0, 1))
    between = pairs((0, 4), (1, 5), n=8)
    parts = on_hosts(between, 150.0, (0, 1, 2, 3, 1, 0, 3, 2), topology)
    assert parts[0] == parts[5]
    assert hosts_of(parts, topology)[0] == hosts_of(parts, topology)[4]


def test_a_zone_is_better_than_nothing() -> None:
    topology = Topology(hosts=(0, 1, 2, 3), zones=(0, 0, 1, 1))
    parts = on_hosts(pairs((0, 3), (1, 2)), 110.0, (), topology)
    zones = [topology.zones[p] for p in parts]
    assert zones[0] == zones[3]


@pytest.mark.parametrize(
    "topology", [Topology(), Topology(hosts=(0, 0, 0, 0)), Topology(hosts=(0, 1, 2, 3))]
)
def test_names_stay_where_hosts_tell_nothing(topology: Topology) -> None:
    assert on_hosts(pairs((0, 2), (1, 3)), 110.0, (), topology) == ()


def test_names_in_force_stay_where_they_are_as_good() -> None:
    counted = streams.count(streams.correlated(1, 20_000, loyalty=0.2), n=4)
    shapes = tuple(g.shape for g in counted.groups)
    topology = Topology(hosts=(0, 0, 1, 1))
    nothing = no_tables("q")
    asked = PlanRequest("q", shapes, (counted,), nothing, topology=topology)
    groups = [nothing.group(shape) for shape in shapes]
    for parts in itertools.permutations(range(4)):
        current = RoutingTables(1, "q", (), parts)
        assert parts_of(replace(asked, current=current), groups) == parts


def test_names_stay_where_little_is_gained() -> None:
    assert on_hosts(pairs(), 1e6, (), Topology(hosts=(0, 0, 1, 1))) == ()


@given(st.lists(st.integers(0, 9), min_size=15, max_size=15))
def test_no_swap_of_two_names_is_better(weights: list[int]) -> None:
    between = np.zeros((6, 6))
    between[np.triu_indices(6, 1)] = weights
    between += between.T
    topology = Topology(hosts=(0, 0, 1, 1, 2, 2))

    def inside(names: list[int]) -> float:
        hosts = np.array(topology.hosts)[names]
        return float(between[hosts[:, None] == hosts[None, :]].sum())

    found = list(on_hosts(between, 1e-6, (), topology) or range(6))
    for a, b in itertools.combinations(range(6), 2):
        swapped = found.copy()
        swapped[a], swapped[b] = swapped[b], swapped[a]
        assert inside(swapped) <= inside(found) + 1e-6
