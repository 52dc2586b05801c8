"""Between plans new keys get a place, and no other key moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import streams
from keyroute import planners
from keyroute.core.plan import PlanRequest, between_of
from keyroute.core.statistics import Period
from keyroute.core.table import RoutingTables, no_tables

N = 3
SHAPES = (streams.shape(0), streams.shape(1))


def ask(current: RoutingTables, *periods: Period) -> PlanRequest:
    return PlanRequest("q", SHAPES, periods, current)


def planned(*periods: Period) -> RoutingTables:
    return planners.load("metis")(ask(no_tables("q"), *periods)).tables(1, "q")


def between(request: PlanRequest) -> RoutingTables:
    place = between_of(planners.load("metis"))
    assert place is not None
    return place(request).tables(2, "q")


def targets(tables: RoutingTables, group: int, ids: streams.Ids) -> list[int]:
    prints = streams.fingerprints(group, ids)
    return tables.group(streams.shape(group)).explicit(prints).tolist()


def test_a_new_key_goes_to_its_partners() -> None:
    a, b = streams.correlated(1, 5000, loyalty=1.0)
    first = streams.count((a, b))
    current = planned(first)
    new = np.arange(1000, 1030)
    now = between(ask(current, first, streams.count((new, b[:30]))))
    assert targets(now, 0, new) == targets(current, 1, b[:30])
    for group, ids in ((0, a), (1, b)):
        assert targets(now, group, ids) == targets(current, group, ids)


def test_new_keys_are_spread_over_the_partitions_of_their_part() -> None:
    shapes = (streams.shape(0, 6), streams.shape(1, 6))
    a, b = streams.correlated(1, 5000, loyalty=1.0)
    first = streams.count((a, b), n=6)
    asked = PlanRequest("q", shapes, (first,), no_tables("q"), executors=2)
    current = planners.load("metis")(asked).tables(1, "q")
    new = np.arange(1000, 1060)
    seen = streams.count((new, b[:60]), n=6)
    now = between(replace(asked, periods=(first, seen), current=current)).group(shapes[0])
    placed = now.explicit(streams.fingerprints(0, new))
    parts = np.array(current.parts)
    partners = current.group(shapes[1]).explicit(streams.fingerprints(1, b[:60]))
    assert (parts[placed] == parts[partners]).all()
    assert len(set(placed.tolist())) == 6


def test_two_new_keys_that_go_together_wait_for_a_partner_that_has_a_place() -> None:
    a, b = streams.correlated(1, 5000)
    first = streams.count((a, b))
    new = np.arange(1000, 1005)
    now = between(ask(planned(first), first, streams.count((new, new))))
    assert targets(now, 0, new) == [-1] * 5


def test_a_full_partition_takes_no_new_key() -> None:
    a, b = streams.correlated(1, 3000, loyalty=1.0)
    first = streams.count((a, b))
    current = planned(first)
    hot = b[0]
    crowd = np.repeat(np.arange(1000, 1100), 60)
    now = between(ask(current, first, streams.count((crowd, np.full(len(crowd), hot)))))
    placed = np.array(targets(now, 0, np.arange(1000, 1100)))
    assert 0 < (placed >= 0).sum() < 100
    assert set(placed[placed >= 0].tolist()) == set(targets(current, 1, np.array([hot])))


def test_hash_has_nothing_between_plans() -> None:
    assert between_of(planners.load("hash")) is None
