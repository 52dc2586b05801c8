"""Hash functions for the power of two choices: independent of each other and of Spark's.

The mixing of splitmix64 (Steele et al. 2014), whose seed picks the function.
"""

from __future__ import annotations

import numpy as np

from keyroute.core.table import Int32Array, Int64Array


def choice(keys: Int64Array, seed: int, workers: int) -> Int32Array:
    """Worker of each key by the hash function of that seed."""
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = keys.astype(np.int64).view(np.uint64) + step * np.uint64(seed + 1)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(workers)).astype(np.int32)
