"""A stream of key tuples as arrays, and its cut into periods."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from keyroute.core.graph import FloatArray
from keyroute.core.hashes import spark_hash
from keyroute.core.table import GroupShape, Int32Array, Int64Array, default_slots

QUERY = "simulation"


class BadStream(ValueError):
    """The stream cannot be replayed; the message says what is wrong with it."""


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """One operator's key: `codes` (N,) index the U distinct `values`; `type` is Spark's DDL text.

    `values` are as `core.hashes.spark_hash` takes them; None is a null key.
    """

    name: str
    type: str
    codes: Int64Array
    values: tuple[object, ...]

    @cached_property
    def hashes(self) -> tuple[Int32Array, Int64Array]:
        """Spark's hash and the fingerprint of each distinct value, (U,) each."""
        pairs = [spark_hash([value], [self.type]) for value in self.values]
        return (
            np.array([murmur for murmur, _ in pairs], dtype=np.int32),
            np.array([xx for _, xx in pairs], dtype=np.int64),
        )

    def shape(self, group: int, partitions: int) -> GroupShape:
        """The routing group of an operator with this key."""
        return GroupShape(
            group=group,
            operators=(group,),
            partitions=partitions,
            slots=default_slots(partitions),
            routing_ordinals=(0,),
            key_names=(self.name,),
            key_types=(self.type,),
        )


@dataclass(frozen=True, eq=False)
class Stream:
    """N rows in order of time: consecutive operators have the keys `columns`.

    `weights` (N,) says how many rows each stands for; `times` (N,) are nanoseconds since 1970, or
    where the stream is not `timed` the rows' numbers.
    """

    columns: tuple[KeyColumn, ...]
    weights: Int64Array
    times: Int64Array
    timed: bool = True

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise BadStream("at least two keys are needed: locality is between operators")
        for one, after in itertools.pairwise(self.columns):
            if one.name == after.name:
                raise BadStream(
                    f"the key {one.name!r} follows itself: such rows stay where they are"
                )
        if not len(self.weights):
            raise BadStream("the stream has no rows")
        if (self.weights < 0).any():
            raise BadStream("a weight is negative")
        if not self.weights.any():
            raise BadStream("the weights of all rows are 0")
        if (np.diff(self.times) < 0).any():
            raise BadStream("the rows are not in order of time")

    @property
    def rows(self) -> int:
        """N."""
        return len(self.weights)


@dataclass(frozen=True, eq=False)
class Cut:
    """One period of a stream: its rows from `start` to before `stop`."""

    stream: Stream
    start: int
    stop: int

    @property
    def weights(self) -> Int64Array:
        """Of the period's rows."""
        return self.stream.weights[self.start : self.stop]

    def codes(self, column: int) -> Int64Array:
        """A column of the period's rows."""
        return self.stream.columns[column].codes[self.start : self.stop]

    def rows_of_values(self, column: int) -> FloatArray:
        """Rows of each distinct value of a column in the period, (U,)."""
        count = len(self.stream.columns[column].values)
        rows: FloatArray = np.bincount(self.codes(column), self.weights, count).astype(np.float64)
        return rows

    @property
    def begins(self) -> int:
        """Time of its first row."""
        return int(self.stream.times[self.start])

    @property
    def since(self) -> str:
        """The same for people, as ISO 8601 has it; empty where rows have no times."""
        moment = np.datetime64(self.begins, "ns").astype("datetime64[s]")
        return str(moment) if self.stream.timed else ""


def cut_by_rows(stream: Stream, rows: int) -> list[Cut]:
    """Periods of so many records. What is left at the end is a period where it is half of one."""
    if rows < 1:
        raise BadStream(f"a period of {rows} rows is none")
    bounds = [*range(0, stream.rows, rows), stream.rows]
    if len(bounds) > 2 and bounds[-1] - bounds[-2] < rows / 2:
        del bounds[-1]
    return _cuts(stream, bounds)


def cut_by_time(stream: Stream, length_ns: int) -> list[Cut]:
    """Periods of so much time from the first row on; empty ones are left out, and a last one that
    is shorter than half of a period."""
    if length_ns < 1:
        raise BadStream("a period must be longer than that")
    length_ns = min(length_ns, np.iinfo(np.int64).max)
    since = stream.times - stream.times[0]
    period = since // length_ns
    starts = np.flatnonzero(np.diff(period, prepend=-1))
    bounds = [*starts.tolist(), stream.rows]
    if len(bounds) > 2 and since[-1] - period[-1] * length_ns < length_ns / 2:
        del bounds[-1]
    return _cuts(stream, bounds)


def _cuts(stream: Stream, bounds: Sequence[int]) -> list[Cut]:
    return [Cut(stream, a, b) for a, b in itertools.pairwise(bounds)]


def column(name: str, ddl: str, values: Sequence[object], codes: NDArray[np.int64]) -> KeyColumn:
    """A key column whose types Spark's hash knows. Raises `BadStream`."""
    made = KeyColumn(name, ddl, codes.astype(np.int64), tuple(values))
    try:
        _ = made.hashes
    except ValueError as error:
        raise BadStream(f"column {name}: {error}") from error
    return made


def edges(columns: int) -> Iterator[tuple[int, int]]:
    """Which operators are consecutive."""
    yield from zip(range(columns - 1), range(1, columns), strict=True)
