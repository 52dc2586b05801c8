"""The key graph: keys as vertices, pairs of keys as edges, with decayed weights (arrays only).

Caneill et al. 2016, §3.3 build a bipartite graph for each pair of operators. Here one graph holds
all groups of a query, so that a key in the middle of a chain is one vertex with edges both ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keyroute.core.counted import CountedKeys, counted_keys, rows_of_pairs
from keyroute.core.distinct import ranked
from keyroute.core.statistics import Period
from keyroute.core.table import GroupShape, Int32Array, Int64Array

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class KeyGraph:
    """V keys of G groups and E pairs; weights and loads in decayed rows.

    `group` (V,) is an index into `shapes`, ascending; within a group `fingerprint` (V,) ascends.
    `weight` (V,) is on the scale of `edge_weight` (E,), whose ends are `edge_from` < `edge_to`,
    vertex indices; pairs ascend by them, and any sums of their weights are exact. `load` (V,) is
    what capacities are held against: it forgets faster. `group_load` (G,) is all of a group's rows
    on the scale of `load`, and `tail_load` (G,) those of keys that are no vertices, which stay
    where their slots are. `newest_load` (V,) and `newest_tail_load` (G,) are those of the newest
    period alone.
    """

    shapes: tuple[GroupShape, ...]
    group: Int32Array
    fingerprint: Int64Array
    weight: FloatArray
    load: FloatArray
    edge_from: Int32Array
    edge_to: Int32Array
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

    A key counts with its rows (count - error) in its group's sketch, or in its pairs where the
    sketch lacks it. Groups without routing columns have no vertices: all their load is tail.
    """
    return history(shapes, periods).graph(half_life, load_half_life)


def faded(age: int, half_life: float) -> float:
    """What is left of a count after `age` periods; with a half-life of 0 only the newest counts."""
    if half_life == 0:
        return float(age == 0)
    return float(0.5 ** (age / half_life))


@dataclass(frozen=True, slots=True, eq=False)
class CountedPairs:
    """One period's rows of pairs: arrays of one length.

    `pair` are indices into a history's pairs, of the vertices `low` < `high`. A pair is there twice
    where rows go both ways.
    """

    pair: Int32Array
    low: Int32Array
    high: Int32Array
    rows: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KeyHistory:
    """Keys and pairs of T periods, from which graphs of any half-life are made.

    Vertices and pairs are those of all periods, as in `KeyGraph`; `rows` (T, V) are those of each
    vertex in each period, `pairs` what was counted of pairs, `group_rows` (T, G).
    """

    shapes: tuple[GroupShape, ...]
    group: Int32Array
    fingerprint: Int64Array
    edge_from: Int32Array
    edge_to: Int32Array
    rows: FloatArray
    pairs: tuple[CountedPairs, ...]
    group_rows: FloatArray

    def members(self, index: int) -> slice:
        """Vertices of the group at that index of `shapes`."""
        low, high = np.searchsorted(self.group, [index, index + 1])
        return slice(int(low), int(high))

    def graph(self, half_life: float, load_half_life: float) -> KeyGraph:
        """Vertices stay where their counts have faded to nothing; such pairs are left out."""
        ages = range(len(self.pairs) - 1, -1, -1)
        load_decay = np.array([faded(age, load_half_life) for age in ages])
        decay = [faded(age, half_life) for age in ages]
        pairs = self._of_pairs(decay)
        load = self._of_keys(load_decay.tolist())
        newest = self._of_keys([float(age == 0) for age in ages])
        group_load = load_decay @ self.group_rows
        newest_rows = self.group_rows[-1] if len(self.pairs) else group_load
        keep = pairs > 0
        whole = bool(keep.all())
        explicit = self._by_group(load)
        return KeyGraph(
            shapes=self.shapes,
            group=self.group,
            fingerprint=self.fingerprint,
            weight=self._of_keys(decay),
            load=load,
            edge_from=self.edge_from if whole else self.edge_from[keep],
            edge_to=self.edge_to if whole else self.edge_to[keep],
            edge_weight=pairs if whole else pairs[keep],
            group_load=np.maximum(group_load, explicit),
            tail_load=np.maximum(group_load - explicit, 0.0),
            newest_load=newest,
            newest_tail_load=np.maximum(newest_rows - self._by_group(newest), 0.0),
        )

    def _of_keys(self, decay: Sequence[float]) -> FloatArray:
        faded_rows = np.zeros(len(self.group))
        for rows, by in zip(self.rows, decay, strict=True):
            if by:
                faded_rows += by * rows
        return faded_rows

    def _of_pairs(self, decay: Sequence[float]) -> FloatArray:
        rows = np.zeros(len(self.edge_from))
        for counted, by in zip(self.pairs, decay, strict=True):
            if by:
                np.add.at(rows, counted.pair, by * counted.rows)
        return _summable(rows)

    def _by_group(self, of_keys: FloatArray) -> FloatArray:
        return np.bincount(self.group, of_keys, minlength=len(self.shapes)).astype(np.float64)


def history(shapes: Sequence[GroupShape], periods: Sequence[Period]) -> KeyHistory:
    """The keys and pairs of some periods, oldest first."""
    shapes = tuple(sorted(shapes, key=lambda s: s.group))
    counted = {s.group: counted_keys(s.group, periods) for s in shapes if s.routing_ordinals}
    sizes = [len(counted[s.group].fingerprints) if s.group in counted else 0 for s in shapes]
    first = {s.group: start for s, start in zip(shapes, np.cumsum([0, *sizes]), strict=False)}
    bits = max(sum(sizes) - 1, 1).bit_length()
    ends = [_ends(period, counted, first, bits) for period in periods]
    codes = np.concatenate([np.empty(0, np.int64), *(code for code, _ in ends)])
    pairs, inverse = ranked(codes, 1 << 2 * bits)
    bounds = np.cumsum([0, *(len(code) for code, _ in ends)])
    edge_from, edge_to = _vertices(pairs, bits)
    return KeyHistory(
        shapes=shapes,
        group=np.repeat(np.arange(len(shapes), dtype=np.int32), sizes),
        fingerprint=np.concatenate(
            [np.empty(0, np.int64), *(of.fingerprints for of in counted.values())]
        ),
        edge_from=edge_from,
        edge_to=edge_to,
        rows=np.concatenate(
            [np.empty((len(periods), 0)), *(of.rows for of in counted.values())], axis=1
        ),
        pairs=tuple(
            CountedPairs(inverse[low:high], *_vertices(code, bits), rows)
            for (code, rows), low, high in zip(ends, bounds, bounds[1:], strict=False)
        ),
        group_rows=np.array([[_group_rows(s.group, p) for s in shapes] for p in periods]).reshape(
            len(periods), len(shapes)
        ),
    )


def _summable(rows: FloatArray) -> FloatArray:
    """The rows, rounded so that sums of any of them are exact, in any order.

    They become whole multiples of what a sum of all could just tell apart.
    """
    scale = 2.0 ** min(52 - int(np.frexp(rows.sum())[1]), 1000)
    summable: FloatArray = rows * scale
    np.rint(summable, out=summable)
    summable /= scale
    return summable


def _ends(
    period: Period, counted: Mapping[int, CountedKeys], first: Mapping[int, int], bits: int
) -> tuple[Int64Array, FloatArray]:
    """Undirected pairs as low << bits | high, and their rows; no loops and no weightless ones.

    `first` has the vertex of each group's first key.
    """
    codes, counts = [np.empty(0, np.int64)], [np.empty(0)]
    for edge in period.edges:
        up, down = edge.upstream_group, edge.downstream_group
        if up not in counted or down not in counted:
            continue
        above = first[up] + counted[up].upstream[edge]
        below = first[down] + counted[down].downstream[edge]
        code = np.minimum(above, below) << bits
        code |= np.maximum(above, below)
        rows = rows_of_pairs(edge)
        keep = (above != below) & (rows > 0)
        whole = bool(keep.all())
        codes.append(code if whole else code[keep])
        counts.append(rows if whole else rows[keep])
    return np.concatenate(codes), np.concatenate(counts)


def _vertices(codes: Int64Array, bits: int) -> tuple[Int32Array, Int32Array]:
    """Lower and higher vertex of each pair of `_ends`."""
    low, high = np.empty((2, len(codes)), np.int32)
    # Straight into these: an array of 64 bits between takes longer than all else.
    np.right_shift(codes, bits, out=low, casting="unsafe")
    np.bitwise_and(codes, (1 << bits) - 1, out=high, casting="unsafe")
    return low, high


def _group_rows(group: int, period: Period) -> float:
    return float(sum(g.rows for g in period.groups if g.shape.group == group))
