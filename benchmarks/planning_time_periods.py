"""Counted periods of two operators whose keys are in communities, of any size, to time plans on."""

from __future__ import annotations

import numpy as np

from keyroute.core.statistics import (
    EdgeStatistics,
    GroupStatistics,
    KeyCounts,
    PairCounts,
    Period,
    SlotPairs,
)
from keyroute.core.table import GroupShape, Int64Array, default_slots

PARTS = 6
COMMUNITIES = 500
LOYALTY = 0.6
SLOT_PAIRS = 65_536
"""The plugin's default: of the matrix of slots so many cells are kept, the heaviest."""


def places(keys: int) -> Int64Array:
    """Ids of `keys` downstream keys; community c has those from c * keys / COMMUNITIES on."""
    return np.arange(keys)


def rearranged(ids: Int64Array, share: float, seed: int) -> Int64Array:
    """The ids where a share of the keys have changed places, and so their communities."""
    rng = np.random.default_rng(seed)
    changed = np.flatnonzero(rng.random(len(ids)) < share)
    other = ids.copy()
    other[changed] = rng.permutation(ids[changed])
    return other


def period(rows: int, downstream: Int64Array, seed: int, slots: bool) -> Period:
    """So many pairs of keys, drawn with a weight each, some keys much more often than others.

    `slots` says whether rows and pairs were counted by slots as well, as the plugin does.
    """
    rng = np.random.default_rng(seed)
    keys = len(downstream)
    each = keys // COMMUNITIES
    home = rng.integers(0, COMMUNITIES, rows)
    other = np.where(rng.random(rows) < LOYALTY, home, rng.integers(0, COMMUNITIES, rows))
    up, place = (of * each + (rng.random(rows) ** 2 * each).astype(int) for of in (home, other))
    pairs, inverse = np.unique(up * keys + downstream[place], return_inverse=True)
    counts = np.bincount(inverse, rng.integers(1, 20, rows)).astype(np.int64)
    ends = (pairs // keys, pairs % keys)
    groups = tuple(_group(g, ids, counts, slots) for g, ids in enumerate(ends))
    prints = [_fingerprints(g, ids) for g, ids in enumerate(ends)]
    total = int(counts.sum())
    listed = PairCounts(total, prints[0], prints[1], counts, np.zeros_like(counts))
    matrix = _slot_pairs(*ends, counts) if slots else SlotPairs()
    return Period(0, 0, 0, total, groups, (EdgeStatistics(0, 1, total, 0, listed, matrix),))


def _group(group: int, ids: Int64Array, counts: Int64Array, slots: bool) -> GroupStatistics:
    keys, inverse = np.unique(ids, return_inverse=True)
    rows = np.bincount(inverse, counts).astype(np.int64)
    count = default_slots(PARTS)
    shape = GroupShape(group, (group,), PARTS, count, (0,), ("k",), ("BIGINT",))
    total, nothing = int(rows.sum()), np.empty(0, np.int64)
    own = _slots(group, keys)
    slot_rows = np.bincount(own, rows, minlength=count).astype(np.int64)
    listed = KeyCounts(
        total,
        _fingerprints(group, keys),
        rows,
        np.zeros_like(rows),
        slots=own if slots else nothing,
    )
    return GroupStatistics(shape, total, slot_rows if slots else nothing, nothing, 0, listed)


def _slot_pairs(up: Int64Array, down: Int64Array, counts: Int64Array) -> SlotPairs:
    count = default_slots(PARTS)
    cells, inverse = np.unique(_slots(0, up) * count + _slots(1, down), return_inverse=True)
    rows = np.bincount(inverse, counts).astype(np.int64)
    kept = np.sort(np.argsort(-rows, kind="stable")[:SLOT_PAIRS])
    left_out = int(rows.sum() - rows[kept].sum())
    return SlotPairs(cells[kept] // count, cells[kept] % count, rows[kept], left_out)


def _slots(group: int, ids: Int64Array) -> Int64Array:
    return (_fingerprints(group, ids) >> 17) % default_slots(PARTS)


def _fingerprints(group: int, ids: Int64Array) -> Int64Array:
    return (ids + 1 + 1_000_003 * group) * np.int64(0x1E3779B97F4A7C15)
