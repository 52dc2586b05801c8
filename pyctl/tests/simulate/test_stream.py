"""Periods of a stream."""

from __future__ import annotations

import numpy as np
import pytest

from keyroute.core.hashes import spark_hash
from keyroute.simulate.stream import BadStream, Stream, column, cut_by_rows, cut_by_time

HOUR = 3_600_000_000_000


def stream(times: list[int], weights: list[int] | None = None) -> Stream:
    codes = np.arange(len(times)) % 2
    keys = [column(name, "string", ["x", None], codes) for name in ("a", "b")]
    counted = np.array(weights if weights is not None else [1] * len(times), dtype=np.int64)
    return Stream(tuple(keys), counted, np.array(times, dtype=np.int64))


def test_keys_have_spark_s_hashes() -> None:
    murmur, xx = stream([0, 1]).columns[0].hashes
    assert (murmur[0], xx[0]) == spark_hash(["x"], ["string"])
    assert (murmur[1], xx[1]) == spark_hash([None], ["string"])


def test_periods_of_time_begin_at_the_first_row_and_leave_out_empty_ones() -> None:
    cuts = cut_by_time(stream([5, 5 + HOUR - 1, 5 + HOUR, 5 + 4 * HOUR, 5 + 5 * HOUR - 1]), HOUR)
    assert [(c.start, c.stop) for c in cuts] == [(0, 2), (2, 3), (3, 5)]


def test_a_short_rest_is_no_period() -> None:
    assert [c.stop for c in cut_by_time(stream([0, HOUR, 2 * HOUR, 2 * HOUR + 9]), HOUR)] == [1, 2]
    assert [c.stop for c in cut_by_rows(stream(list(range(9))), 4)] == [4, 8]
    assert [c.stop for c in cut_by_rows(stream(list(range(10))), 4)] == [4, 8, 10]
    assert [c.stop for c in cut_by_rows(stream([1]), 4)] == [1]


def test_rows_count_by_their_weight() -> None:
    (first, _) = cut_by_rows(stream([0, 1, 2, 3], [5, 7, 1, 2]), 2)
    assert first.rows_of_values(0).tolist() == [5.0, 7.0]


@pytest.mark.parametrize(
    ("times", "weights", "says"),
    [
        ([], [], "no rows"),
        ([0], [-1], "negative"),
        ([0], [0], "all rows are 0"),
        ([2, 1], [1, 1], "order of time"),
    ],
)
def test_a_stream_that_is_none_is_refused(times: list[int], weights: list[int], says: str) -> None:
    with pytest.raises(BadStream, match=says):
        stream(times, weights)


def test_a_key_that_spark_s_hash_does_not_know_is_refused() -> None:
    with pytest.raises(BadStream, match="column a: "):
        column("a", "variant", ["x"], np.zeros(1, np.int64))
