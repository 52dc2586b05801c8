"""Distinct values of large integer arrays and where they are.

NumPy's own way to both (`unique` with its inverse) sorts an array of indices, and `searchsorted`
walks a tree from afar for each value: several times slower on the 10^6 pairs that a plan may have.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from keyroute.core.table import Int32Array, Int64Array

Number = TypeVar("Number", bound=np.generic)

FEW = 4096
"""So few values are not worth a table to find them by."""

FEW_OF = 1 / 8
"""Nor are they if they are a smaller share of those that are known."""

BLOCK = 1 << 15
"""Values that are looked up at once: what is made of them stays in the processor's cache."""

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def distinct(values: Int64Array) -> Int64Array:
    """The values, ascending, each once."""
    ordered = np.sort(values)
    return ordered[_first(ordered)]


class Positions:
    """Position of values in `known`, whose values are distinct and ascend; -1 for all others.

    By a hash table of an eighth full: a value that is not in its own bucket is in one of the next,
    or nowhere if an empty one comes first. It is made where many values are asked for.
    """

    def __init__(self, known: Int64Array) -> None:
        self._known = known
        self._bits = (8 * max(len(known), 1) - 1).bit_length()
        self._table: Int32Array | None = None

    def __call__(self, values: Int64Array) -> Int64Array:
        """Positions of some values."""
        if not len(self._known):
            return np.full(len(values), -1, np.int64)
        if self._table is None and len(values) < max(FEW, FEW_OF * len(self._known)):
            at = np.minimum(np.searchsorted(self._known, values), len(self._known) - 1)
            return np.where(self._known[at] == values, at, -1)
        found = np.empty(len(values), np.int64)
        loops = _loops()
        if loops is not None:
            self._find(loops, values, found)
            return found
        if self._table is None:
            self._table = _table(self._known, self._bits)
        for low in range(0, len(values), BLOCK):
            block = slice(low, low + BLOCK)
            self._look_up(self._table, values[block], found[block])
        return found

    def _find(self, loops: ModuleType, values: Int64Array, found: Int64Array) -> None:
        known, shift = self._known.view(np.uint64), np.uint64(64 - self._bits)
        if self._table is None:
            self._table = np.full(1 << self._bits, -1, np.int32)
            loops.fill(known, shift, self._table)
        loops.find(known, shift, self._table, values.view(np.uint64), found)

    def _look_up(self, table: Int32Array, values: Int64Array, found: Int64Array) -> None:
        bucket = _buckets(values, self._bits)
        found[:] = table[bucket]
        other = np.flatnonzero((self._known[found] != values) & (found >= 0))
        bucket = bucket[other]
        while len(other):
            bucket = (bucket + 1) & (len(table) - 1)
            here = table[bucket]
            found[other] = here
            more = (self._known[here] != values[other]) & (here >= 0)
            other, bucket = other[more], bucket[more]


def looked_up(
    known: Int64Array, of: NDArray[Number], values: Int64Array, otherwise: int
) -> NDArray[Number]:
    """What `of` has for each of the values, where they are known; these are as in `Positions`."""
    if not len(known):
        return np.full(len(values), otherwise, of.dtype)
    at = Positions(known)(values)
    found = of[at]
    found[at < 0] = otherwise
    return found


def ranked(codes: Int64Array, most: int) -> tuple[Int64Array, Int32Array]:
    """Distinct codes in [0, most), ascending, and the position of each code among them."""
    count = len(codes)
    low = max(count - 1, 1).bit_length()
    if low + max(most - 1, 1).bit_length() > 63:
        found, at = np.unique(codes, return_inverse=True)
        return found.astype(np.int64), at.astype(np.int32)
    # A code and its place in one number: a sort of plain numbers, which is far faster.
    packed = codes << low
    packed |= np.arange(count)
    packed.sort()
    inverse = np.empty(count, np.int32)
    loops = _loops() if count >= FEW else None
    if loops is not None:
        return packed[: loops.rank(packed, low, inverse)], inverse
    ordered = packed >> low
    first = _first(ordered)
    inverse[packed & ((1 << low) - 1)] = np.cumsum(first, dtype=np.int32) - 1
    return ordered[first], inverse


@cache
def _loops() -> ModuleType | None:
    """The compiled loops, where there is a compiler; loaded by the first who needs them."""
    from keyroute.core import loops

    return loops if loops.COMPILES else None


def _table(known: Int64Array, bits: int) -> Int32Array:
    """Position of a known value in the bucket where it was put, -1 in the others."""
    table = np.full(1 << bits, -1, np.int32)
    left = np.arange(len(known), dtype=np.int32)
    bucket = _buckets(known, bits)
    while len(left):
        free = table[bucket] < 0
        table[bucket[free]] = left[free]
        lost = table[bucket] != left
        left, bucket = left[lost], (bucket[lost] + 1) & ((1 << bits) - 1)
    return table


def _buckets(values: Int64Array, bits: int) -> Int64Array:
    mixed = np.ascontiguousarray(values).view(np.uint64)
    # Without this, values at even distances would share few buckets.
    mixed = (mixed ^ (mixed >> np.uint64(32))) * _SPREAD
    mixed >>= np.uint64(64 - bits)
    return mixed.view(np.int64)


def _first(ordered: Int64Array) -> NDArray[np.bool_]:
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
