"""Made streams of keys: numbers from 0 on, one a message."""

from __future__ import annotations

import numpy as np

from keyroute.core.table import Int64Array


def log_normal(mu: float, sigma: float, messages: int, seed: int) -> Int64Array:
    """Keys are log-normal draws, rounded to whole numbers, and named anew by first sight.

    Nasir et al. 2015, §V-A give mu and sigma only. Rounding is what brings their table I: with it,
    the most frequent key has 14.71 % of LN1 and 7.0 % of LN2.
    """
    drawn = np.random.default_rng(seed).lognormal(mu, sigma, messages)
    return by_first_sight(np.rint(drawn).astype(np.int64))


def zipf(exponent: float, keys: int, messages: int, seed: int) -> Int64Array:
    """Key number i has a share in proportion to 1 / (i + 1) ** exponent."""
    weights = np.arange(1, keys + 1) ** -exponent
    bounds = np.cumsum(weights) / weights.sum()
    drawn = np.random.default_rng(seed).random(messages)
    return np.searchsorted(bounds[:-1], drawn).astype(np.int64)


def by_first_sight(keys: Int64Array) -> Int64Array:
    """The same keys, from 0 on and not huge, with other numbers: 0 is the first to come."""
    first = np.full(int(keys.max()) + 1, len(keys))
    first[keys[::-1]] = np.arange(len(keys))[::-1]
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[keys]
