"""New names for the parts of an assignment, so that as little as possible moves."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array


def relabel(
    assignment: Int32Array, home: Int32Array, weight: FloatArray, sizes: Int64Array
) -> Int32Array:
    """The same grouping of keys with parts renamed to keep the most weight at home.

    `assignment`, `home` and `weight` are (V,); keys without a home (-1) or without a part have no
    say. `sizes` (parts,) are the parts' partitions: only parts of one size change names.
    """
    known, parts = (home >= 0) & (assignment >= 0), len(sizes)
    cell = assignment[known].astype(np.int64) * parts + home[known]
    kept = np.bincount(cell, weight[known], minlength=parts * parts)
    # A hair for the old name settles ties, so that nothing is renamed without a reason.
    overlap = kept.reshape(parts, parts) + np.eye(parts) * 1e-9
    overlap[sizes[:, None] != sizes[None, :]] = -1.0 - kept.sum()
    _, names = linear_sum_assignment(overlap, maximize=True)
    return np.where(assignment >= 0, names[assignment], -1).astype(np.int32)
