"""Units of ALBIC's program: sets of key groups that move as one.

Collocated sets come from ALBIC's step 2. All other key groups are bundled, since HiGHS would lose
itself among thousands of small ones that can stand for each other: of one home and group, the
lightest first, up to a grain. A few finer bundles at each home keep small differences in reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.table import Int32Array, Int64Array
from keyroute.planners.albic_model import Model

GRAIN = 0.02
"""Load of a bundle, as a share of a node's mean."""

FINER = (0.05, 0.1, 0.2, 0.5)
"""Sizes of each home's first bundles, as shares of the grain."""

MAX_BINARIES = 6_000


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """U units: `of` (K,) is each key group's unit, -1 where it stays; `load` and `cost` (U, G).

    `pinned` (U,) is the node that a unit must be on, -1 where it is free.
    """

    of: Int64Array
    load: FloatArray
    cost: FloatArray
    home: Int32Array
    pinned: Int32Array

    def spread(self, model: Model, at: Int32Array) -> Int32Array:
        """Node of each key group (K,) by the nodes of the units (U,)."""
        return np.where(self.of >= 0, at[self.of], model.home).astype(np.int32)


def units(model: Model, piece: Int64Array, pins: dict[int, int]) -> Units:
    """Units of the pieces (K,; a number for each collocated set, -1: none) and of what is left.

    `pins` has nodes of key groups, and so of their units.
    """
    whole = piece.copy()
    apart = [k for k in {*pins, *np.flatnonzero(model.hot).tolist()} if whole[k] < 0]
    whole[apart] = whole.max(initial=-1) + 1 + np.arange(len(apart))
    taken = len(np.unique(whole[whole >= 0]))
    room = max(MAX_BINARIES // model.nodes - taken, 4 * model.nodes * model.groups)
    grain = GRAIN
    of = _bundled(model, whole, grain)
    while of.max(initial=-1) + 1 - taken > room and grain < 1:
        grain *= 2
        of = _bundled(model, whole, grain)
    count = int(of.max(initial=-1)) + 1
    pinned = np.full(count, -1, np.int32)
    for key_group, node in pins.items():
        pinned[of[key_group]] = node
    home = np.zeros(count, np.int32)
    home[of[of >= 0]] = model.home[of >= 0]
    load = np.where(model.hot, 0.0, model.load)
    return Units(of, _sums(model, of, load), _sums(model, of, model.cost), home, pinned)


def _bundled(model: Model, whole: Int64Array, grain: float) -> Int64Array:
    """Unit of each key group: the pieces, numbered anew, then bundles."""
    of = np.full(len(whole), -1, np.int64)
    _, of[whole >= 0] = np.unique(whole[whole >= 0], return_inverse=True)
    count = int(of.max(initial=-1)) + 1
    # What has no load may stay, unless its node is to be emptied.
    free = np.flatnonzero((whole < 0) & ((model.load > 0) | model.leaving[model.home]))
    cell = model.home[free].astype(np.int64) * model.groups + model.group[free]
    for one in np.unique(cell):
        members = free[cell == one]
        members = members[np.argsort(model.load[members], kind="stable")]
        numbers = _pack(model.load[members], grain)
        of[members] = count + numbers
        count += int(numbers[-1]) + 1
    return of


def _pack(loads: FloatArray, grain: float) -> Int64Array:
    """Bundle of each load, ascending ones: as many as fit in each, at least one."""
    sums = np.cumsum(loads)
    numbers = np.zeros(len(loads), np.int64)
    start, bundle, before = 0, 0, 0.0
    while start < len(loads):
        size = grain * FINER[bundle] if bundle < len(FINER) else grain
        stop = max(start + 1, int(np.searchsorted(sums, before + size, side="right")))
        numbers[start:stop] = bundle
        start, bundle, before = stop, bundle + 1, float(sums[stop - 1])
    return numbers


def _sums(model: Model, of: Int64Array, values: FloatArray) -> FloatArray:
    held = of >= 0
    count = int(of.max(initial=-1)) + 1
    flat = np.bincount(
        of[held] * model.groups + model.group[held], values[held], count * model.groups
    )
    sums: FloatArray = flat.reshape(count, model.groups).astype(np.float64)
    return sums
