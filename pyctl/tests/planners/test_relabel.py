"""Relabelling keeps as much weight at home as any naming of the partitions can."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from keyroute.planners.relabel import relabel


@given(
    st.lists(
        st.tuples(st.integers(-1, 3), st.integers(-1, 3), st.integers(1, 9)),
        min_size=1,
        max_size=25,
    )
)
def test_no_naming_moves_less(keys: list[tuple[int, int, int]]) -> None:
    assignment, home = (np.array([k[i] for k in keys], np.int32) for i in (0, 1))
    weight = np.array([k[2] for k in keys], float)

    def kept(named: np.ndarray) -> float:
        return float(weight[(named == home) & (home >= 0)].sum())

    best = max(
        kept(np.where(assignment >= 0, np.array(names)[assignment], -1))
        for names in itertools.permutations(range(4))
    )
    named = relabel(assignment, home, weight, 4)
    assert kept(named) == best
    for part in range(4):
        assert len(set(named[assignment == part])) <= 1


def test_nothing_is_renamed_without_a_reason() -> None:
    assignment = np.array([2, 0, 1], np.int32)
    assert relabel(assignment, np.full(3, -1, np.int32), np.ones(3), 3).tolist() == [2, 0, 1]
