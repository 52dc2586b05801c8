"""The key graph: keys as vertices, pairs of keys as edges, with decayed weights (arrays only).

Caneill et al. 2016, §3.3 build a bipartite graph for each pair of operators. Here one graph holds
all groups of a query, so that a key in the middle of a chain is one vertex with edges both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    of keys that are no vertices, which stay where their slots are. `newest_load` (V,) and
    `newest_tail_load` (G,) are those of the newest period alone.
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
    newest_load: FloatArray
    newest_tail_load: FloatArray

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
    return history(shapes, periods).graph(half_life, load_half_life)


def faded(age: int, half_life: float) -> float:
    """What is left of a count after `age` periods; with a half-life of 0 only the newest counts."""
    if half_life == 0:
        return float(age == 0)
    return float(0.5 ** (age / half_life))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """One period's rows: of vertices `at`, and of pairs, indices into a history's pairs.

    A pair is there twice where rows go both ways.
    """

    at: Int64Array
    rows: FloatArray
    pair: Int64Array
    pair_rows: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KeyHistory:
    """Keys and pairs of T periods, from which graphs of any half-life are made.

    Vertices and pairs are those of all periods, as in `KeyGraph`; `group_rows` (T, G).
    """

    shapes: tuple[GroupShape, ...]
    group: Int32Array
    fingerprint: Int64Array
    edge_from: Int64Array
    edge_to: Int64Array
    periods: tuple[Counted, ...]
    group_rows: FloatArray

    def members(self, index: int) -> slice:
        """Vertices of the group at that index of `shapes`."""
        low, high = np.searchsorted(self.group, [index, index + 1])
        return slice(int(low), int(high))

    def graph(self, half_life: float, load_half_life: float) -> KeyGraph:
        """Vertices stay where their counts have faded to nothing; such pairs are left out."""
        ages = range(len(self.periods) - 1, -1, -1)
        load_decay = np.array([faded(age, load_half_life) for age in ages])
        decay = [faded(age, half_life) for age in ages]
        pairs = self._of_pairs(decay)
        load = self._of_keys(load_decay.tolist())
        newest = self._of_keys([float(age == 0) for age in ages])
        group_load = load_decay @ self.group_rows
        newest_rows = self.group_rows[-1] if len(self.periods) else group_load
        keep = pairs > 0
        explicit = self._by_group(load)
        return KeyGraph(
            shapes=self.shapes,
            group=self.group,
            fingerprint=self.fingerprint,
            weight=self._of_keys(decay),
            load=load,
            edge_from=self.edge_from[keep],
            edge_to=self.edge_to[keep],
            edge_weight=pairs[keep],
            group_load=np.maximum(group_load, explicit),
            tail_load=np.maximum(group_load - explicit, 0.0),
            newest_load=newest,
            newest_tail_load=np.maximum(newest_rows - self._by_group(newest), 0.0),
        )

    def _of_keys(self, decay: Sequence[float]) -> FloatArray:
        rows = np.zeros(len(self.group))
        for period, by in zip(self.periods, decay, strict=True):
            if by:
                rows[period.at] += by * period.rows
        return rows

    def _of_pairs(self, decay: Sequence[float]) -> FloatArray:
        rows = np.zeros(len(self.edge_from))
        for period, by in zip(self.periods, decay, strict=True):
            if by:
                rows += by * np.bincount(period.pair, period.pair_rows, minlength=len(rows))
        return rows

    def _by_group(self, of_keys: FloatArray) -> FloatArray:
        return np.bincount(self.group, of_keys, minlength=len(self.shapes)).astype(np.float64)


def history(shapes: Sequence[GroupShape], periods: Sequence[Period]) -> KeyHistory:
    """The keys and pairs of some periods, oldest first."""
    shapes = tuple(sorted(shapes, key=lambda s: s.group))
    index = {s.group: i for i, s in enumerate(shapes)}
    counted = [[_keys_of(s, p) for s in shapes] for p in periods]
    keys = [
        np.unique(np.concatenate([np.empty(0, np.int64), *(of[g][0] for of in counted)]))
        for g in range(len(shapes))
    ]
    starts = np.cumsum([0, *(len(k) for k in keys)])
    ends = [_ends(index, keys, starts, period) for period in periods]
    codes = np.concatenate([np.empty(0, np.int64), *(code for code, _ in ends)])
    pairs, inverse = np.unique(codes, return_inverse=True)
    vertices = max(int(starts[-1]), 1)
    bounds = np.cumsum([0, *(len(code) for code, _ in ends)])
    return KeyHistory(
        shapes=shapes,
        group=np.repeat(np.arange(len(shapes), dtype=np.int32), np.diff(starts)),
        fingerprint=np.concatenate([np.empty(0, np.int64), *keys]),
        edge_from=pairs // vertices,
        edge_to=pairs % vertices,
        periods=tuple(
            _counted(keys, starts, of, inverse[low:high], rows)
            for of, (_, rows), low, high in zip(counted, ends, bounds, bounds[1:], strict=False)
        ),
        group_rows=np.array([[_group_rows(s.group, p) for s in shapes] for p in periods]).reshape(
            len(periods), len(shapes)
        ),
    )


def _counted(
    keys: list[Int64Array],
    starts: Int64Array,
    counted: list[tuple[Int64Array, FloatArray]],
    pair: Int64Array,
    rows: FloatArray,
) -> Counted:
    at = [
        start + np.searchsorted(known, seen)
        for start, known, (seen, _) in zip(starts, keys, counted, strict=False)
    ]
    return Counted(
        at=np.concatenate([np.empty(0, np.int64), *at]),
        rows=np.concatenate([np.empty(0), *(r for _, r in counted)]),
        pair=pair,
        pair_rows=rows,
    )


def _keys_of(shape: GroupShape, period: Period) -> tuple[Int64Array, FloatArray]:
    if not shape.routing_ordinals:
        return np.empty(0, np.int64), np.empty(0)
    return rows_of_keys(shape.group, period)


@lru_cache(maxsize=8)
def rows_of_keys(group: int, period: Period) -> tuple[Int64Array, FloatArray]:
    """Fingerprints of a group's counted keys in one period, ascending, and their rows.

    A key's rows are the largest of what its sketch and each list of pairs guarantee. The newest
    answers are kept, since all that is said of a plan begins with them; they cannot be written.
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
    summed = [_summed(of, rows) for of, rows in sources]
    fingerprints = np.unique(np.concatenate([np.empty(0, np.int64), *(f for f, _ in summed)]))
    most = np.zeros(len(fingerprints))
    for source, of_source in summed:
        at = np.searchsorted(fingerprints, source)
        most[at] = np.maximum(most[at], of_source)
    fingerprints.setflags(write=False)
    most.setflags(write=False)
    return fingerprints, most


def _summed(keys: Int64Array, rows: Int64Array) -> tuple[Int64Array, FloatArray]:
    """Distinct keys, ascending, and the sums of their rows."""
    order = np.argsort(keys)
    ordered = keys[order]
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    if not len(first):
        return np.empty(0, np.int64), np.empty(0)
    return ordered[first], np.add.reduceat(rows[order].astype(np.float64), first)


def _ends(
    index: dict[int, int], keys: Sequence[Int64Array], starts: Int64Array, period: Period
) -> tuple[Int64Array, FloatArray]:
    """Undirected pairs as low * V + high, and their rows; no loops and no weightless ones."""
    vertices = max(int(starts[-1]), 1)
    codes, counts = [np.empty(0, np.int64)], [np.empty(0)]
    for edge in period.edges:
        ends = _plannable_ends(edge, index, keys)
        if ends is None:
            continue
        up, down = ends
        pairs = edge.pairs
        above = starts[up] + np.searchsorted(keys[up], pairs.upstream)
        below = starts[down] + np.searchsorted(keys[down], pairs.downstream)
        rows = (pairs.counts - pairs.errors).astype(np.float64)
        keep = (above != below) & (rows > 0)
        low, high = np.minimum(above, below), np.maximum(above, below)
        codes.append((low * vertices + high)[keep])
        counts.append(rows[keep])
    return np.concatenate(codes), np.concatenate(counts)


def _plannable_ends(
    edge: EdgeStatistics, index: dict[int, int], keys: Sequence[Int64Array]
) -> tuple[int, int] | None:
    up, down = index.get(edge.upstream_group), index.get(edge.downstream_group)
    if up is None or down is None or not len(edge.pairs.counts):
        return None
    if not len(keys[up]) or not len(keys[down]):
        return None
    return up, down


def _group_rows(group: int, period: Period) -> float:
    return float(sum(g.rows for g in period.groups if g.shape.group == group))
