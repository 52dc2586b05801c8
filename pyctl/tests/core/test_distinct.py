"""Finding values by a hash table gives what sorting and searching gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyroute.core import distinct as module
from keyroute.core.distinct import BLOCK, FEW, Positions, distinct, looked_up, ranked


def test_distinct_values_ascend() -> None:
    assert distinct(np.array([5, -3, 5, 9, -3])).tolist() == [-3, 5, 9]
    assert distinct(np.empty(0, np.int64)).tolist() == []


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("asked", [FEW - 1, FEW, BLOCK + 1])
@pytest.mark.parametrize("step", [1, 1 << 32, 0x1E3779B97F4A7C15, 0x9E3779B97F4A7C15 - (1 << 64)])
def test_each_value_is_found_where_it_is_and_no_other(
    asked: int, step: int, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiles:
        monkeypatch.setattr(module, "_loops", lambda: None)
    # At even distances, as a bad hash would have them; every other one is not known.
    values = np.arange(-20_000, 20_000) * np.int64(step)
    known = np.sort(values[::2])
    wanted = np.random.default_rng(1).choice(values, asked)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    expected = np.where(known[at] == wanted, at, -1)
    assert 0 < (expected < 0).sum() < asked
    assert Positions(known)(wanted).tolist() == expected.tolist()


def test_nothing_is_found_among_no_values() -> None:
    assert Positions(np.empty(0, np.int64))(np.arange(FEW)).tolist() == [-1] * FEW


@given(st.lists(st.integers(0, 40)), st.sampled_from([41, 1 << 62]))
def test_codes_are_ranked_as_by_sorting(codes: list[int], most: int) -> None:
    found, inverse = ranked(np.array(codes, np.int64), most)
    assert found.tolist() == sorted(set(codes))
    assert found[inverse].tolist() == codes


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("count", [FEW - 1, FEW])
def test_many_codes_are_ranked_as_by_sorting(
    count: int, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiles:
        monkeypatch.setattr(module, "_loops", lambda: None)
    codes = np.random.default_rng(2).integers(0, 3_000, count)
    found, inverse = ranked(codes, 1 << 34)
    assert found.tolist() == sorted(set(codes))
    assert (found[inverse] == codes).all()
    assert inverse.dtype == np.int32


def test_few_of_many_are_found_without_a_table() -> None:
    known = np.arange(0, 20 * FEW, 2)
    find = Positions(known)
    assert find(np.arange(FEW)).tolist() == [i // 2 if i % 2 == 0 else -1 for i in range(FEW)]
    assert find._table is None
    find(known)
    assert find._table is not None


@given(st.sets(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_what_is_looked_up_is_what_a_key_has_or_the_other_value(
    keys: set[int], wanted: list[int]
) -> None:
    known = np.array(sorted(keys), np.int64)
    found = looked_up(known, (known + 100).astype(np.int32), np.array(wanted, np.int64), -1)
    assert found.tolist() == [key + 100 if key in keys else -1 for key in wanted]
    assert found.dtype == np.int32
