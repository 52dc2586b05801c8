"""The loops of `distinct`, compiled.

A module of its own, since the compiler takes long to load: who looks up few values never needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keyroute.core.compiled import COMPILES, compiled

if TYPE_CHECKING:
    from keyroute.core.table import Int32Array, Int64Array

UInt64Array = NDArray[np.uint64]

__all__ = ["COMPILES", "fill", "find", "rank"]

_HALF = np.uint64(32)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@compiled
def bucket(value: np.uint64, shift: np.uint64) -> np.int64:
    """As `distinct._buckets`, of one value; `shift` is 64 less the table's bits."""
    return np.int64(((value ^ (value >> _HALF)) * _SPREAD) >> shift)


@compiled
def fill(known: UInt64Array, shift: np.uint64, table: Int32Array) -> None:
    """Puts the position of each known value into its bucket, or the next that is empty (-1)."""
    for i in range(len(known)):
        at = bucket(known[i], shift)
        while table[at] >= 0:
            at = (at + 1) & (len(table) - 1)
        table[at] = i


@compiled
def find(
    known: UInt64Array,
    shift: np.uint64,
    table: Int32Array,
    values: UInt64Array,
    found: Int64Array,
) -> None:
    """Writes the position of each value, -1 where it is not known."""
    for i in range(len(values)):
        at = bucket(values[i], shift)
        while table[at] >= 0 and known[table[at]] != values[i]:
            at = (at + 1) & (len(table) - 1)
        found[i] = table[at]


@compiled
def rank(packed: Int64Array, low: int, inverse: Int32Array) -> int:
    """How many distinct codes there are, which go to the front of `packed`.

    That has codes, ascending, each with a place of its own in its `low` lowest bits; `inverse` gets
    the position of the code of each place among the distinct ones.
    """
    count, last = 0, -1
    for i in range(len(packed)):
        code, place = packed[i] >> low, packed[i] & ((1 << low) - 1)
        if code != last:
            packed[count] = code
            count += 1
            last = code
        inverse[place] = count - 1
    return count
