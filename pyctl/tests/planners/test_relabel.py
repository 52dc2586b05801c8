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
    named = relabel(assignment, home, weight, np.ones(4, np.int64))
    assert kept(named) == best
    for part in range(4):
        assert len(set(named[assignment == part])) <= 1


def test_nothing_is_renamed_without_a_reason() -> None:
    assignment = np.array([2, 0, 1], np.int32)
    nowhere = np.full(3, -1, np.int32)
    assert relabel(assignment, nowhere, np.ones(3), np.ones(3, np.int64)).tolist() == [2, 0, 1]


def test_only_parts_of_one_size_change_names() -> None:
    assignment, home = np.array([[0, 1, 2], [1, 0, 0]], np.int32)
    # By weight, 0 and 1 would change names; but part 0 has more partitions.
    named = relabel(assignment, home, np.array([9.0, 9.0, 1.0]), np.array([3, 2, 2]))
    assert named.tolist() == [0, 1, 2]
    # 1 and 2 have as many as each other.
    home = np.array([0, 2, 1], np.int32)
    named = relabel(assignment, home, np.array([9.0, 9.0, 1.0]), np.array([3, 2, 2]))
    assert named.tolist() == [0, 2, 1]
