"""Bids of NEXMark, from its public description: seeded, as arrays.

Tucker et al., *NEXMark: A Benchmark for Queries over Data Streams*, 2002, with the proportions of
the generators in use: of 50 events, 1 is a person, 3 are auctions, 46 are bids. A bid is for one of
the newest `IN_FLIGHT` auctions; in the usual stream, every other bid is for the hot auction, the
newest whose number is a multiple of `HOT_EVERY`. Prices are 100 * 10^u for u uniform in [0, 6].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array

AUCTIONS, BIDS = 3, 46
IN_FLIGHT = 100
HOT_EVERY = 100


@dataclass(frozen=True, eq=False)
class Bids:
    """`auction`, `price` in cents and `time_s` of each bid, all (N,), in order of time."""

    auction: Int64Array
    price: Int64Array
    time_s: FloatArray


@dataclass(frozen=True)
class Skew:
    """From `begin_s` to before `end_s`, `share` of the bids are for auctions of some reducers."""

    begin_s: float
    end_s: float
    share: float
    reducers: tuple[int, ...]


def bids(count: int, per_s: float, seed: int) -> Bids:
    """The usual stream."""
    rng = np.random.default_rng(seed)
    newest = newest_auction(count)
    drawn = newest - rng.integers(0, IN_FLIGHT, count)
    hot = newest // HOT_EVERY * HOT_EVERY
    return _bids(np.where(rng.random(count) < 0.5, hot, drawn), per_s, rng)


def skewed_bids(
    count: int, per_s: float, seed: int, owner: Int32Array, skews: tuple[Skew, ...]
) -> Bids:
    """Bids whose auctions are uniform among those in flight, but for the skews.

    `owner` is the reducer of each auction before anything moves. While a skew lasts, the other bids
    are for auctions of the other reducers.
    """
    rng = np.random.default_rng(seed)
    time_s = np.arange(count) / per_s
    auction = newest_auction(count) - rng.integers(0, IN_FLIGHT, count)
    for skew in skews:
        of_these = np.isin(owner, skew.reducers)
        now = np.flatnonzero((time_s >= skew.begin_s) & (time_s < skew.end_s))
        hot = rng.random(len(now)) < skew.share
        auction[now] = np.where(
            hot, _at_most(of_these)[auction[now]], _at_most(~of_these)[auction[now]]
        )
    return _bids(auction, per_s, rng)


def newest_auction(count: int) -> Int64Array:
    """Number of the newest auction when each bid comes; `IN_FLIGHT` are there at the first."""
    return IN_FLIGHT - 1 + np.arange(count) * AUCTIONS // BIDS


def _at_most(wanted: NDArray[np.bool_]) -> Int64Array:
    """The nearest wanted number that is not larger, of each; the first wanted one below it."""
    numbers = np.where(wanted, np.arange(len(wanted)), -1)
    found = np.maximum.accumulate(numbers)
    return np.where(found < 0, int(wanted.argmax()), found)


def _bids(auction: Int64Array, per_s: float, rng: np.random.Generator) -> Bids:
    price = (100 * 10 ** (6 * rng.random(len(auction)))).astype(np.int64)
    return Bids(auction, price, np.arange(len(auction)) / per_s)
