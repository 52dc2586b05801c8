"""The key graph: keys as vertices, pairs of keys as edges, with decayed weights (arrays only).

Caneill et al. 2016, §3.3 build a bipartite graph for each pair of operators. Here one graph holds
all groups of a query, so that a key in the middle of a chain is one vertex with edges both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keyroute.core.statistics import EdgeStatistics, Period
from keyroute.core.table import GroupShape, Int32Array, Int64Array

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KeyGraph:
    """V keys of G groups and E pairs; weights and loads in decayed rows.

    `group` (V,) is an index into `shapes`, ascending; within a group `fingerprint` (V,) ascends.
    `weight` (V,) is on the scale of `edge_weight` (E,), whose ends are `edge_from` and `edge_to`,
    vertex indices. `load` (V,) is what capacities are held against: it forgets faster.
    `group_load` (G,) is all of a group's rows on the scale of `load`, and `tail_load` (G,) those
    of keys that are no vertices, which stay where their slots are.
    """

    shapes: tuple[GroupShape, ...]
    group: Int32Array
    fingerprint: Int64Array
    weight: FloatArray
    load: FloatArray
    edge_from: Int64Array
    edge_to: Int64Array
    edge_weight: FloatArray
    group_load: FloatArray
    tail_load: FloatArray

    @property
    def vertices(self) -> int:
        """V."""
        return len(self.group)

    @property
    def edges(self) -> int:
        """E."""
        return len(self.edge_weight)

    def members(self, index: int) -> slice:
        """Vertices of the group at that index of `shapes`."""
        low, high = np.searchsorted(self.group, [index, index + 1])
        return slice(int(low), int(high))


def build(
    shapes: Sequence[GroupShape],
    periods: Sequence[Period],
    half_life: float,
    load_half_life: float,
) -> KeyGraph:
    """The graph of some periods, oldest first, whose counts halve every `half_life` periods.

    A key counts with its guaranteed rows (count - error) in its group's sketch or in its pairs,
    whichever is more. Groups without routing columns have no vertices: all their load is tail.
    """
    shapes = tuple(sorted(shapes, key=lambda s: s.group))
    index = {s.group: i for i, s in enumerate(shapes)}
    ages = range(len(periods) - 1, -1, -1)
    decay = [0.5 ** (age / half_life) for age in ages]
    load_decay = [0.5 ** (age / load_half_life) for age in ages]
    keys = [_keys_of_group(s, periods, decay, load_decay) for s in shapes]
    starts = np.cumsum([0, *(len(k.fingerprint) for k in keys)])
    edge_from, edge_to, edge_weight = _edges(index, keys, starts, periods, decay)
    group_load = np.array([_group_load(s.group, periods, load_decay) for s in shapes])
    explicit = np.array([k.load.sum() for k in keys])
    return KeyGraph(
        shapes=shapes,
        group=np.repeat(np.arange(len(shapes), dtype=np.int32), np.diff(starts)),
        fingerprint=np.concatenate([np.empty(0, np.int64), *(k.fingerprint for k in keys)]),
        weight=np.concatenate([np.empty(0), *(k.weight for k in keys)]),
        load=np.concatenate([np.empty(0), *(k.load for k in keys)]),
        edge_from=edge_from,
        edge_to=edge_to,
        edge_weight=edge_weight,
        group_load=np.maximum(group_load, explicit),
        tail_load=np.maximum(group_load - explicit, 0.0),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Keys:
    fingerprint: Int64Array
    weight: FloatArray
    load: FloatArray


def rows_of_keys(group: int, period: Period) -> tuple[Int64Array, FloatArray]:
    """Fingerprints of a group's counted keys in one period, ascending, and their rows.

    A key's rows are the largest of what its sketch and each list of pairs guarantee.
    """
    sources = [
        (g.keys.fingerprints, g.keys.counts - g.keys.errors)
        for g in period.groups
        if g.shape.group == group
    ]
    for edge in period.edges:
        rows = edge.pairs.counts - edge.pairs.errors
        if edge.upstream_group == group:
            sources.append((edge.pairs.upstream, rows))
        if edge.downstream_group == group:
            sources.append((edge.pairs.downstream, rows))
    fingerprints = np.unique(np.concatenate([np.empty(0, np.int64), *(f for f, _ in sources)]))
    most = np.zeros(len(fingerprints))
    for source, rows in sources:
        at = np.searchsorted(fingerprints, source)
        most = np.maximum(most, np.bincount(at, rows, minlength=len(fingerprints)))
    return fingerprints, most


def _keys_of_group(
    shape: GroupShape, periods: Sequence[Period], decay: list[float], load_decay: list[float]
) -> _Keys:
    if not shape.routing_ordinals:
        return _Keys(np.empty(0, np.int64), np.empty(0), np.empty(0))
    counted = [rows_of_keys(shape.group, p) for p in periods]
    fingerprints = np.unique(np.concatenate([np.empty(0, np.int64), *(f for f, _ in counted)]))
    weight, load = np.zeros(len(fingerprints)), np.zeros(len(fingerprints))
    for (seen, rows), by, load_by in zip(counted, decay, load_decay, strict=True):
        at = np.searchsorted(fingerprints, seen)
        weight[at] += rows * by
        load[at] += rows * load_by
    return _Keys(fingerprints, weight, load)


def _edges(
    index: dict[int, int],
    keys: list[_Keys],
    starts: Int64Array,
    periods: Sequence[Period],
    decay: list[float],
) -> tuple[Int64Array, Int64Array, FloatArray]:
    froms, tos = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    weights: list[FloatArray] = [np.empty(0)]
    for period, by in zip(periods, decay, strict=True):
        for edge in period.edges:
            ends = _plannable_ends(edge, index, keys)
            if ends is None:
                continue
            up, down = ends
            pairs = edge.pairs
            froms.append(starts[up] + np.searchsorted(keys[up].fingerprint, pairs.upstream))
            tos.append(starts[down] + np.searchsorted(keys[down].fingerprint, pairs.downstream))
            weights.append(np.multiply(pairs.counts - pairs.errors, by, dtype=np.float64))
    return _merged(np.concatenate(froms), np.concatenate(tos), np.concatenate(weights))


def _plannable_ends(
    edge: EdgeStatistics, index: dict[int, int], keys: list[_Keys]
) -> tuple[int, int] | None:
    up, down = index.get(edge.upstream_group), index.get(edge.downstream_group)
    if up is None or down is None or not len(edge.pairs.counts):
        return None
    if not len(keys[up].fingerprint) or not len(keys[down].fingerprint):
        return None
    return up, down


def _merged(
    edge_from: Int64Array, edge_to: Int64Array, weight: FloatArray
) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Undirected edges, each once, without loops and without weightless ones."""
    low, high = np.minimum(edge_from, edge_to), np.maximum(edge_from, edge_to)
    keep = (low != high) & (weight > 0)
    vertices = int(high.max(initial=0)) + 1
    ends, inverse = np.unique(low[keep] * vertices + high[keep], return_inverse=True)
    summed: FloatArray = np.bincount(inverse, weight[keep], minlength=len(ends)).astype(np.float64)
    return ends // vertices, ends % vertices, summed


def _group_load(group: int, periods: Sequence[Period], decay: list[float]) -> float:
    return sum(
        g.rows * by
        for p, by in zip(periods, decay, strict=True)
        for g in p.groups
        if g.shape.group == group
    )
