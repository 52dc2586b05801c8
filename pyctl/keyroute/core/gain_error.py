"""How far off a gain of locality may be by chance alone.

Rows of one pair of keys stay local together or not at all, so a period is a sample of its pairs,
not of its rows: with 150 pairs of equal weight, two random tables of 3 parts differ by 5 points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from keyroute.core.graph import FloatArray
from keyroute.core.sites import ANYWHERE, KeySlots, key_slots
from keyroute.core.statistics import Period
from keyroute.core.table import GroupTable, Int32Array, Int64Array, RoutingTables


def gain_error(
    older: RoutingTables,
    newer: RoutingTables,
    periods: Iterable[Period],
    placed: tuple[int, ...] = (),
) -> float:
    """Standard error of the locality that `newer` gains over `older` on the counted pairs; infinite
    where there were pairs and none has rows (count - error)."""
    ups, downs, weights = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    gains, rows = [np.empty(0)], 0
    for period in periods:
        shapes = {g.shape.group: g.shape for g in period.groups}
        for edge in period.edges:
            if edge.upstream_group not in shapes or edge.downstream_group not in shapes:
                continue
            pairs, rows = edge.pairs, rows + edge.rows
            ends = [
                (shapes[group], key_slots(group, [period]), keys)
                for group, keys in (
                    (edge.upstream_group, pairs.upstream),
                    (edge.downstream_group, pairs.downstream),
                )
            ]
            then, now = (
                _together(*(_part(t.group(s), k, f, t.parts or placed) for s, k, f in ends))
                for t in (newer, older)
            )
            ups.append(pairs.upstream)
            downs.append(pairs.downstream)
            weights.append((pairs.counts - pairs.errors).astype(np.float64))
            gains.append(then - now)
    weight, gain = np.concatenate(weights), np.concatenate(gains)
    total = float(weight.sum())
    if not total:
        return math.inf if rows else 0.0
    _, up = np.unique(np.concatenate(ups), return_inverse=True)
    _, down = np.unique(np.concatenate(downs), return_inverse=True)
    _, pair = np.unique(up * len(down) + down, return_inverse=True)
    mean = float((weight * gain).sum()) / total
    apart = np.bincount(pair, weight * (gain - mean))
    return float(np.sqrt(np.square(apart).sum())) / total


def _part(
    table: GroupTable, slots: KeySlots, fingerprints: Int64Array, parts: tuple[int, ...]
) -> tuple[Int32Array, int]:
    """Part of each key, -1 where it is not known, and how many parts there are."""
    n = table.shape.partitions
    of = np.array(parts if len(parts) >= n else range(n), np.int32)
    slot = slots.find(fingerprints)
    by_slot = np.where(slot == ANYWHERE, -1, table.owners()[slot])
    explicit = table.explicit(fingerprints)
    partition = np.where(explicit >= 0, explicit, by_slot)
    return np.where(partition < 0, -1, of[partition]).astype(np.int32), len(set(of.tolist()))


def _together(up: tuple[Int32Array, int], down: tuple[Int32Array, int]) -> FloatArray:
    known = (up[0] >= 0) & (down[0] >= 0)
    together: FloatArray = np.where(known, up[0] == down[0], 1.0 / max(up[1], down[1]))
    return together
