"""New names for the partitions of an assignment, so that as little as possible moves."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array


def relabel(
    assignment: Int32Array, home: Int32Array, weight: FloatArray, partitions: int
) -> Int32Array:
    """The same grouping of keys with partitions renamed to keep the most weight at home.

    Arrays are (V,); keys without a home (-1) or without a partition have no say.
    """
    known = (home >= 0) & (assignment >= 0)
    cell = assignment[known].astype(np.int64) * partitions + home[known]
    kept = np.bincount(cell, weight[known], minlength=partitions * partitions)
    # A hair for the old name settles ties, so that nothing is renamed without a reason.
    overlap = kept.reshape(partitions, partitions) + np.eye(partitions) * 1e-9
    _, names = linear_sum_assignment(overlap, maximize=True)
    return np.where(assignment >= 0, names[assignment], -1).astype(np.int32)
